import { escaped } from './plot.js'

/** The style of an HTML report, light and dark. Line colours are distinguishable for colour-blind readers. */
const STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2430; --soft: #5b6675; --line: #dde2e9; --panel: #f5f7fa;
  --a: #1f6fd0; --b: #d9730d; --c: #12876f; --bad: #c92a3b; --faint: #9aa5b4; --good: #1a7f4b; }
@media (prefers-color-scheme: dark) { :root { --paper: #12161c; --ink: #e4e9f0; --soft: #9aa5b4; --line: #2b333e;
  --panel: #1a2029; --a: #66a8ff; --b: #f2a154; --c: #4fc3a5; --bad: #ff7583; --faint: #6b7685; --good: #5fcf93; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 24px 20px 48px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 36px 0 8px; }
h3 { font-size: 14px; margin: 0; }
header p, .note, .none { color: var(--soft); margin: 4px 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 10px; margin: 20px 0; }
.tiles div { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; }
.tiles b { display: block; font-size: 20px; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: 13px; }
.verdict { border-left: 4px solid var(--a); padding: 6px 12px; background: var(--panel); }
.thresholds { list-style: none; padding: 0; }
.held::before { content: "\\2713  "; color: var(--good); font-weight: bold; }
.failed::before { content: "\\2717  "; color: var(--bad); font-weight: bold; }
figure { margin: 16px 0; padding: 14px 16px 8px; border: 1px solid var(--line); border-radius: 8px; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
svg .marked { fill: var(--ink); }
.grid { stroke: var(--line); }
.mark { stroke: var(--soft); stroke-dasharray: 3 3; }
.bound { stroke: var(--bad); stroke-dasharray: 6 4; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.line.a { stroke: var(--a); } .line.b { stroke: var(--b); } .line.c { stroke: var(--c); }
.line.bad { stroke: var(--bad); } .line.faint { stroke: var(--faint); stroke-dasharray: 5 4; }
.dot.a { fill: var(--a); } .dot.b { fill: var(--b); } .dot.c { fill: var(--c); } .dot.bad { fill: var(--bad); } .dot.faint { fill: var(--faint); }
.legend { display: flex; gap: 16px; font-size: 13px; color: var(--soft); }
.key::before { content: ""; display: inline-block; width: 16px; height: 3px; margin-right: 6px; vertical-align: middle; background: var(--faint); }
.key.a::before { background: var(--a); } .key.b::before { background: var(--b); } .key.c::before { background: var(--c); } .key.bad::before { background: var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 12px 0; width: 100%; font-size: 13.5px; }
th, td { padding: 5px 10px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child, .facts th, .facts td { text-align: left; }
.facts td:last-child { white-space: normal; overflow-wrap: anywhere; }
`

/** One page that opens offline: style and plots are inline, and its policy allows no loads. `title` is escaped, `body` is not. */
export const offlinePage = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`
