import type { ComponentChildren } from 'preact'

/** A reference, a code or a word to type: a browser that translates the page leaves it as it is. */
export const Exact = ({ children }: { readonly children: ComponentChildren }) => (
  <span translate={false}>{children}</span>
)

/** A text with `value`, as `Exact` shows it, in place of `{name}`. */
export function withExact(text: string, name: string, value: string): ComponentChildren {
  const [before, after] = text.split(`{${name}}`)
  return (
    <>
      {before}
      <Exact>{value}</Exact>
      {after}
    </>
  )
}
