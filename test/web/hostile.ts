/** Breaks out of every context in which a text may be inserted. */
// biome-ignore format: many short cases, some to a line
const WAYS_OUT = ['', '"', "'", '">', "'>", '</title>', '</script>', '</textarea>', '</style>', '</template>', '-->', ']]>', '\\', '`']
/** Signs that a text is interpreted as markup or script. */
const DEEDS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<iframe srcdoc="<script>parent.alert(1)</script>">',
  '<details open ontoggle=alert(1)>x</details>',
  '<body onload=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  ' autofocus onfocus=alert(1) x=',
  '<a id=typed href="javascript:alert(1)">x</a>',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<base href="//evil.example/">',
  '<style>*{background:url(//evil.example/x)}</style>',
  '<object data="javascript:alert(1)"></object>',
  ';alert(1)//',
  '<%= alert(1) %>',
  "{{constructor.constructor('alert(1)')()}}",
]
/** Texts that try to run a script. The numbers of both parts are coprime, so every pair occurs. */
export const hostileTexts = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${WAYS_OUT[i % WAYS_OUT.length]}${DEEDS[i % DEEDS.length]}`)
