/**
 * The style of the element. A page sets the properties `--keystride-*`; the colours follow its `color-scheme`. The element's own
 * properties begin with `--_`, because children of the page inherit them. Applied as a constructed sheet, which needs no `style-src`.
 */
const COLOURS: readonly (readonly [name: string, light: string, dark: string])[] = [
  ['accent', '#0b6e63', '#66cfbd'],
  ['soft', '#59626b', '#a3adb5'],
  ['line', '#dfded7', '#2e353b'],
  ['wash', '#eaf3f1', '#1c2c2b'],
  ['field', '#f6f5f1', '#101316'],
  ['warn', '#8a4700', '#f2b872'],
  ['warn-wash', '#fbf1e4', '#2c2318'],
]
const declared = (colour: (light: string, dark: string) => string): string =>
  COLOURS.map(([name, light, dark]) => `--_${name}:var(--keystride-${name},${colour(light, dark)})`).join(';')

export const style = `
:host{display:block;--_radius:var(--keystride-radius,.8rem);${declared((light) => light)}}
@supports (color:light-dark(#000,#fff)){:host{${declared((light, dark) => `light-dark(${light},${dark})`)}}}
:host([hidden]),[hidden]{display:none!important}
*{box-sizing:border-box}
p{margin:.5rem 0}
#touch{margin:0 0 1.5rem;background:var(--_warn-wash);color:var(--_warn);border-radius:var(--_radius);padding:.8rem 1rem}
#count{margin:0 0 .5rem;font-size:.95em;font-weight:600}
#steps{list-style:none;margin:0 0 2rem;padding:0;display:flex;gap:.4rem}
#steps li{flex:1;height:.4rem;border-radius:1rem;background:var(--_line);overflow:hidden}
#steps li::before{content:"";display:block;height:100%;width:0;border-radius:inherit;background:var(--_accent);transition:width .35s ease}
#steps .done::before{width:100%}
#steps .now::before{width:calc(var(--part,0)*100%)}
#words{list-style:none;margin:0 -.42em 1em;padding:0;display:flex;flex-wrap:wrap;gap:.25em .2em;font-size:1.4em;line-height:1.35;
min-height:2.7em;align-content:flex-start}
#words li{padding:.1em .42em .14em;border-radius:.45em;border-bottom:2px solid transparent;transition:background-color .2s ease,color .2s ease}
#words b{font-weight:inherit;color:var(--_accent)}
#words [data-mark=now]{background:var(--_wash);border-color:var(--_accent)}
#words [data-mark=done]{color:var(--_soft)}
#words [data-mark=done]::after{content:"✓";content:"✓"/"";color:var(--_accent);font-size:.7em;margin-left:.25em;vertical-align:.12em}
#words [data-mark=wrong]{color:var(--_warn);background:var(--_warn-wash);text-decoration:underline wavy;text-decoration-thickness:1.5px;
text-underline-offset:.22em}
label{display:block;font-weight:600;font-size:.95em;margin-bottom:.45em}
input{width:100%;font:inherit;font-size:1.2em;color:inherit;background:var(--_field);border:1.5px solid var(--_soft);
border-radius:var(--_radius);padding:.6em .8em}
input:focus{outline:3px solid var(--_accent);outline-offset:1px}
#help,#hint,details{color:var(--_soft);font-size:.95em}
#hint{min-height:3.2em;margin-bottom:.4rem}
details{margin-top:2rem;border-top:1px solid var(--_line);padding-top:1.1rem}
summary{color:var(--keystride-ink,inherit)}
#hint[data-tone=warn]{color:var(--_warn);font-weight:500}
summary{cursor:pointer;font-weight:600}
summary:focus-visible{outline:3px solid var(--_accent);outline-offset:3px}
ul{margin:.7rem 0 0;padding-left:1.2rem}
ul li{margin:.3rem 0}
@media (prefers-reduced-motion:reduce){*,*::before{transition:none!important}}
@media (forced-colors:active){#words [data-mark=now]{border-color:Highlight}#steps .done::before,#steps .now::before{background:Highlight}}
`
