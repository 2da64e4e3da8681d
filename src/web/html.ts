/** Markup that may stand in a page as it is. */
export interface Html {
  readonly markup: string
}

type Piece = Html | string | number | readonly Html[]

/** A template whose values are escaped, unless they are markup themselves. Attribute values must stand in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return { markup: parts.map((part, i) => part + (i < values.length ? markupOf(values[i] ?? '') : '')).join('') }
}

/** For attributes that stand there or do not, and for parts left out. */
export const nothing: Html = { markup: '' }

function markupOf(piece: Piece): string {
  if (typeof piece === 'string' || typeof piece === 'number') return escaped(String(piece))
  return 'markup' in piece ? piece.markup : piece.map(({ markup }) => markup).join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
