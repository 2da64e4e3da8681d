import type { ComponentChildren } from 'preact'

interface WideNeeds {
  /** The content in words. */
  readonly label: string
  readonly onKeyDown?: (event: KeyboardEvent & { readonly currentTarget: HTMLElement }) => void
  readonly children: ComponentChildren
}

/** A region that scrolls sideways on a narrow screen. */
export const Wide = ({ label, children, ...rest }: WideNeeds) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without a mouse it scrolls only with the focus
  <section class="wide" aria-label={label} tabIndex={0} {...rest}>
    {children}
  </section>
)
