/** Safe markup, which is inserted without escaping. */
export interface Html {
  readonly markup: string
}

type Piece = Html | string | number | readonly Html[]

/** A template that escapes its values, except markup. Attribute values must be in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return { markup: parts.map((part, i) => part + (i < values.length ? markupOf(values[i] ?? '') : '')).join('') }
}

/** Empty markup, for optional attributes and parts. */
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
