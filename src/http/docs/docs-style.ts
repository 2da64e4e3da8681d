/** The style sheet of the reference page: system fonts, two colour schemes, a column of text and a column of navigation. */
export const docsStyle = `
:root{color-scheme:light dark;--bg:#fdfdfb;--ink:#1d2329;--soft:#5c6670;--line:#e3e4df;--panel:#f4f4ef;--accent:#0b6e63;
--get:#0b6e63;--post:#2856b8;--put:#96580a;--patch:#7a3fa8;--delete:#b0302b}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--ink:#e4e6e3;--soft:#9aa4ac;--line:#2b3136;--panel:#1c2125;
--accent:#5fc9b8;--get:#5fc9b8;--post:#8fb2ff;--put:#e3ae63;--patch:#c9a0ec;--delete:#f08c86}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1.5rem}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:var(--accent);text-underline-offset:.15em}
a:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--bg);padding:.5rem 1rem}
.page{display:grid;grid-template-columns:19rem minmax(0,1fr);max-width:84rem;margin:0 auto}
nav{position:sticky;top:0;height:100vh;overflow-y:auto;padding:2.5rem 1.25rem 3rem 1.5rem;border-right:1px solid var(--line);
font-size:.86rem;line-height:1.4}
nav summary{font-weight:600;color:var(--soft);padding:.3rem 0;cursor:pointer}
nav .pages{display:flex;flex-wrap:wrap;gap:.1rem 1rem;margin:0 0 1.2rem}
nav .pages a{color:var(--accent)}
nav .pages a[aria-current]{color:inherit;font-weight:600}
#tools{display:grid;gap:.5rem;justify-items:start;margin-bottom:1rem}
#tools label{width:100%}
.found{margin:0;color:var(--soft)}.found:empty{display:none}
[hidden]{display:none!important}
nav ul{list-style:none;margin:0;padding:0}
nav a{display:grid;grid-template-columns:3.4rem 1fr;gap:.4rem;padding:.22rem 0;color:inherit;text-decoration:none;
overflow-wrap:anywhere}
nav a:hover{color:var(--accent)}
nav .plain{display:block}
main{padding:2.5rem clamp(1.25rem,4vw,4rem) 6rem;min-width:0}
h1{font-size:2rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 .4rem}
h2{font-size:1.35rem;margin:2.5rem 0 .3rem;letter-spacing:-.01em}
h3{font-size:1.12rem;margin:0;font-weight:600}
h4{font-size:.78rem;letter-spacing:.05em;text-transform:uppercase;color:var(--soft);margin:1.6rem 0 .4rem;font-weight:600}
p{max-width:68ch;margin:.5rem 0}
.lead{color:var(--soft)}
code,pre,.verb,.path{font-family:ui-monospace,"SF Mono","Cascadia Mono",Menlo,Consolas,monospace;font-size:.875em}
code{background:var(--panel);padding:.1em .35em;border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.9rem 1.1rem;overflow-x:auto;
line-height:1.5;margin:.4rem 0}
pre code{background:none;padding:0;font-size:1em}
article{border-top:1px solid var(--line)}
article>details>summary{display:grid;grid-template-columns:1rem minmax(0,1fr);column-gap:.6rem;padding:.7rem 0;cursor:pointer;list-style:none}
article>details>summary::-webkit-details-marker{display:none}
article>details>summary::before{content:"›";grid-row:1/3;color:var(--soft);font-weight:700}
article>details[open]>summary::before{transform:rotate(90deg);transform-origin:.35rem .8rem}
article>details>summary:hover h3{color:var(--accent)}
.body{padding:0 0 2rem 1.6rem}
.line{display:flex;flex-wrap:wrap;gap:.1rem .75rem;align-items:baseline;color:var(--soft);font-size:.92rem}
.answer{margin:.6rem 0}.answer summary{cursor:pointer;color:var(--accent);font-size:.92rem}
.verb{font-weight:700;text-transform:uppercase}
.path{overflow-wrap:anywhere}
.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.patch{color:var(--patch)}.delete{color:var(--delete)}
.gone{text-decoration:line-through}
.needs{color:var(--soft);font-size:.88rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th{text-align:left;font-weight:600;color:var(--soft);font-size:.8rem;padding:.3rem 1rem .3rem 0;
border-bottom:1px solid var(--line)}
td{vertical-align:top;padding:.45rem 1rem .45rem 0;border-bottom:1px solid var(--line)}
td:first-child{white-space:nowrap}
.outcomes td{white-space:normal}
.type{color:var(--soft)}
.must{color:var(--delete);font-size:.8rem;margin-left:.4rem}
.send{margin:1.2rem 0;border:1px solid var(--line);border-radius:8px;padding:.6rem 1.1rem}
.send summary{cursor:pointer;font-weight:600;color:var(--accent)}
form{display:grid;gap:.7rem;max-width:46rem;margin:.8rem 0}
form>*{min-width:0}
label{display:grid;grid-template-columns:auto 1fr;gap:.15rem .6rem;font-size:.92rem;align-items:baseline}
label small{color:var(--soft)}
input,select,textarea{grid-column:1/-1;width:100%;font:inherit;color:inherit;background:var(--bg);border:1px solid var(--soft);
border-radius:6px;padding:.4rem .6rem}
textarea{font:.875rem/1.5 ui-monospace,"SF Mono","Cascadia Mono",Menlo,Consolas,monospace;resize:vertical}
button{font:inherit;font-weight:600;cursor:pointer;border:1px solid var(--accent);border-radius:6px;padding:.35rem 1rem;
background:var(--accent);color:var(--bg)}
button.quiet{background:none;color:var(--accent)}
button:disabled{opacity:.6;cursor:default}
:is(input,select,textarea,button,summary,pre,.scroll):focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.access{margin:1.2rem 0 0}
.status{font-weight:600}.status:empty{display:none}
dl{display:grid;grid-template-columns:auto 1fr;gap:.1rem .9rem;margin:.4rem 0;font-size:.88rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
@media (max-width:56rem){.page{display:block}nav{position:static;height:auto;border-right:0;
border-bottom:1px solid var(--line);padding-bottom:1.5rem}main{padding-top:2rem}}
@media print{nav,.send,.access{display:none}.page{display:block}article{break-inside:avoid}}
`
