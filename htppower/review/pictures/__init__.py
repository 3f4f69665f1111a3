"""Pictures of a dry run: a timeline as SVG, a page around it, a trace. Nothing here prints; the commands do."""
