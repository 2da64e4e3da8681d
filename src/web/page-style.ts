/** The style of the hosted pages: system fonts, two colour schemes, one column. Loads no other file. */
export const pageStyle = `
:root{color-scheme:light dark;--bg:#f6f5f1;--card:#fff;--ink:#1b2026;--soft:#59626b;--line:#dfded7;--wash:#eaf3f1;
--accent:#0b6e63;--on-accent:#fff;--warn:#8a4700;--wash-warn:#fbf1e4;--shadow:0 1px 2px #1b20260d,0 12px 40px #1b202612}
@media (prefers-color-scheme:dark){:root{--bg:#101316;--card:#181c20;--ink:#e8eae6;--soft:#a3adb5;--line:#2e353b;
--wash:#1c2c2b;--accent:#66cfbd;--on-accent:#04221e;--warn:#f2b872;--wash-warn:#2c2318;--shadow:none}}
*{box-sizing:border-box}
[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;align-items:center;justify-content:center;
gap:1.5rem;padding:clamp(0rem,4vw,3rem);background:var(--bg);color:var(--ink);
font:1.0625rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main{width:min(43rem,100%);background:var(--card);border-radius:1.25rem;box-shadow:var(--shadow);
padding:clamp(1.5rem,6vw,3.25rem)}
h1{font-size:clamp(1.6rem,1.2rem + 2vw,2.1rem);line-height:1.2;letter-spacing:-.02em;font-weight:650;margin:.25rem 0 .6rem;
text-wrap:balance}
h1:focus,#why:focus{outline:none}
p{margin:.5rem 0}
a{color:var(--accent);text-underline-offset:.18em}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
.mark{color:var(--accent);margin:0 0 .9rem;line-height:0}
.who{color:var(--soft);margin:0;font-size:.95rem}
.lead{color:var(--soft);max-width:58ch;text-wrap:pretty}
.notice{background:var(--wash-warn);color:var(--warn);border-radius:.8rem;padding:.8rem 1rem}
#needs{visibility:hidden;animation:appear 0s 1.5s forwards}
@keyframes appear{to{visibility:visible}}
@keyframes arrive{from{opacity:0;transform:translateY(.4em)}}
keystride-typing{display:block;margin-top:1.9rem;--keystride-accent:var(--accent);--keystride-soft:var(--soft);--keystride-line:var(--line);
--keystride-wash:var(--wash);--keystride-field:var(--bg);--keystride-warn:var(--warn);--keystride-warn-wash:var(--wash-warn);
--keystride-ink:var(--ink)}
#turn{margin:1.9rem 0 -1.4rem;font-size:.95rem;font-weight:600}
button,.button{display:inline-block;font:inherit;font-weight:600;color:var(--on-accent);background:var(--accent);border:0;
border-radius:.8rem;padding:.75rem 1.6rem;cursor:pointer;text-decoration:none;transition:filter .2s ease,transform .1s ease}
button:hover,.button:hover{filter:brightness(1.08)}
button:active,.button:active{transform:translateY(1px)}
[aria-busy=true]>button{opacity:.65}
.choice{margin-top:1.1rem}
.choice label{display:block;font-weight:600;margin-bottom:.35rem}
.choice input:not([type=hidden]){display:block;width:100%;font:inherit;color:inherit;background:var(--bg);border:2px solid var(--line);
border-radius:.8rem;padding:.7rem .9rem;margin-bottom:.9rem}
.choice input:focus{outline:none;border-color:var(--accent)}
button:disabled{opacity:.65;cursor:default}
button.quiet{color:var(--accent);background:var(--wash)}
#done,#stopped{animation:arrive .5s both ease-out}
#stopped{margin-top:1.5rem}
#stopped button,#onward{margin-top:.9rem}
#why{color:var(--warn)}
.tick{fill:none;stroke:var(--accent);stroke-width:4;stroke-linecap:round;stroke-linejoin:round;margin-bottom:.6rem}
.tick circle{stroke:var(--wash);fill:var(--wash)}
.tick path{stroke-dasharray:40;animation:draw .6s .25s both ease-out}
@keyframes draw{from{stroke-dashoffset:40}}
h2{font-size:clamp(1.5rem,1.2rem + 1.6vw,1.9rem);line-height:1.2;letter-spacing:-.015em;margin:1.8rem 0 .3rem}
h2:focus{outline:none}
h3{font-size:1.02rem;margin:2rem 0 .2rem}
.soft{color:var(--soft);font-size:.92rem}
#meter{position:relative;height:.9rem;border-radius:1rem;background:var(--line);margin:1.4rem 0 .4rem;overflow:hidden}
#level{position:absolute;inset:0 auto 0 0;width:var(--level,0);border-radius:inherit;background:var(--accent);
transition:width .7s ease-out}
#threshold{position:absolute;inset:0 auto 0 50%;width:2px;background:var(--card)}
#scale{display:flex;justify-content:space-between;color:var(--soft);font-size:.85rem;margin:0}
table{border-collapse:collapse;width:100%;font-size:.95rem;font-variant-numeric:tabular-nums;margin:.8rem 0}
th{text-align:left;font-weight:600;padding:.35rem .6rem .35rem 0}
thead th{color:var(--soft);font-size:.85rem;border-bottom:1px solid var(--line)}
td{padding:.35rem .6rem .35rem 0;white-space:nowrap}
tbody th{white-space:nowrap}
thead th:nth-child(2){text-align:center;padding-right:0}
td:nth-child(3){padding-left:1rem}thead th:nth-child(3){padding-left:1rem}
td:nth-child(2){width:52%;padding-right:0;position:relative;background:linear-gradient(var(--line),var(--line)) center/1px 100% no-repeat}
.bar{display:block;height:.75rem;border-radius:.25rem;width:calc(var(--share)*49%)}
.for{background:var(--accent);margin-left:50%}
.against{background:var(--warn);margin-left:calc(50% - var(--share)*49%)}
.heard{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
#turns{display:flex;flex-wrap:wrap;gap:.7rem;margin-top:1.4rem}
#forget{margin-top:1.2rem}
#tries{display:flex;flex-wrap:wrap;gap:.3rem 2.8rem;padding-left:1.2rem;margin:.4rem 0}
body>nav ul{list-style:none;display:flex;flex-wrap:wrap;justify-content:center;gap:.2rem 1.1rem;margin:0;padding:0 1rem 1.2rem;
font-size:.9rem}
body>nav a{color:var(--soft);text-decoration:none;display:inline-block;padding:.2rem 0}
body>nav a:hover{color:var(--accent);text-decoration:underline}
body>nav [aria-current]{color:var(--ink);font-weight:600}
main:has(.guide){width:min(58rem,100%)}
.guide h2{font-size:1.3rem;margin-top:2.4rem}
.guide .links{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;margin-bottom:2rem;font-weight:600}
.guide code{font:.88em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.guide pre{background:var(--bg);border:1px solid var(--line);border-radius:.8rem;padding:.9rem 1rem;overflow:auto;max-height:30rem}
.guide pre code{overflow-wrap:normal}
.guide td,.guide td:nth-child(2){white-space:normal;padding-right:.8rem;width:auto;background:none;vertical-align:top;border-bottom:1px solid var(--line)}
.guide thead th:nth-child(2){text-align:left}
.guide td:nth-child(3),.guide thead th:nth-child(3){padding-left:0}
@media (max-width:40rem){body{justify-content:flex-start;padding:0}main{border-radius:0;box-shadow:none;flex:1}
button[type=submit]{width:100%}table{font-size:.85rem}th,td{padding-right:.35rem}
td:nth-child(2){width:36%}td:nth-child(3),thead th:nth-child(3){padding-left:.5rem}}
@media (prefers-reduced-motion:reduce){*,*::before,*::after{animation-duration:0s!important;transition:none!important}

.tick path{animation-delay:0s}}
`
