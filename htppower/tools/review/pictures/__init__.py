"""Pictures of a dry run and of the shares of an inference: SVG, a page around it, a trace. Commands print them."""
