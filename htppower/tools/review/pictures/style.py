"""The style sheet of the pictures: for a file of their own, for htppower's pages, and for the docs."""

# On a page of the docs, the colours are taken from its theme, and otherwise from the system's colour scheme.
SVG = """
.htp { --ink: var(--color-foreground-primary, #1f2328); --faint: var(--color-foreground-secondary, #59636e);
  --ground: var(--color-background-primary, #ffffff);
  --line: var(--color-background-border, #d1d9e0); --grid: var(--color-background-hover, #eceff2);
  --core: #bc4c00; --bus: #0969da; --hmx: #8250df; --inference: #1a7f37; --prepare: #57606a; --sustain: #bf8700;
  --fail: #cf222e; max-width: 100%; height: auto;
  font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
@media (prefers-color-scheme: dark) {
  .htp { --ink: var(--color-foreground-primary, #e6edf3); --faint: var(--color-foreground-secondary, #9198a1);
    --ground: var(--color-background-primary, #0d1117);
    --line: var(--color-background-border, #3d444d); --grid: var(--color-background-hover, #21262d);
    --core: #f0883e; --bus: #4493f8; --hmx: #ab7df8; --inference: #3fb950; --prepare: #9198a1; --sustain: #d29922;
    --fail: #f85149; } }
.htp .ground { fill: var(--ground); }
.htp text { fill: var(--ink); font-size: 11px; unicode-bidi: isolate; }
.htp .name { font-size: 18px; font-weight: 650; }
.htp .summary { font-size: 13px; }
.htp .setting, .htp .faint, .htp .time, .htp .near { fill: var(--faint); }
.htp .voted { font-weight: 600; }
.htp .band { font-size: 10px; font-weight: 600; }
.htp .tight { font-size: 9px; }
.htp .cut { font-style: italic; fill: var(--faint); }
.htp .note { font-size: 13px; fill: var(--faint); }
.htp .on-lane { paint-order: stroke; stroke: var(--ground); stroke-width: 4px; stroke-linejoin: round; }
.htp .frame { fill: none; stroke: var(--line); }
.htp .grid { stroke: var(--grid); }
.htp .axis, .htp .gap { stroke: var(--line); fill: none; }
.htp .zigzag { stroke: var(--faint); fill: none; }
.htp .call { stroke: var(--faint); stroke-dasharray: 2 3; stroke-opacity: .7; }
.htp .glyph { stroke: var(--ink); fill: var(--ink); stroke-width: 1.4; stroke-linejoin: round; }
.htp .create { fill: var(--ground); }
.htp .destroy { fill: none; stroke-width: 1.8; }
.htp .fail { fill: var(--fail); stroke: var(--fail); }
.htp .many { fill: var(--ground); stroke: var(--ink); }
.htp .phase { fill-opacity: .22; stroke-opacity: .8; }
.htp .INFERENCE { fill: var(--inference); stroke: var(--inference); }
.htp .INIT, .htp .DE-INIT { fill: var(--prepare); stroke: var(--prepare); }
.htp .column { fill-opacity: .07; stroke: none; }
.htp .window { stroke: var(--sustain); stroke-dasharray: 4 3; }
.htp .hatch { stroke: var(--sustain); stroke-width: 1.6; }
.htp .core { --clock: var(--core); } .htp .bus { --clock: var(--bus); } .htp .HMX { --clock: var(--hmx); }
.htp .target { fill: none; stroke: var(--clock); stroke-width: 2.2; stroke-linejoin: round; }
.htp .range { fill: var(--clock); fill-opacity: .25; stroke: none; }
.htp .changes { fill: var(--clock); fill-opacity: .4; stroke: var(--clock); }
.htp .value { fill: var(--faint); fill-opacity: .16; stroke: var(--faint); stroke-opacity: .7; }
.htp .strip { --clock: var(--faint); }
.htp .short { stroke-dasharray: 3 3; }
.htp .follows { stroke-dasharray: 5 4; stroke-width: 1.6; }
.htp .no-vote { stroke-dasharray: 2 4; stroke-width: 1.6; }
.htp .clock-name { fill: var(--clock); font-size: 12px; font-weight: 650; }
"""
