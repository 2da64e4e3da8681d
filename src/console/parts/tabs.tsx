interface TabsNeeds {
  readonly label: string
  readonly tabs: readonly { readonly name: string; readonly href: string; readonly current: boolean }[]
}

/** Links to ranges or parts of a page, one of which is current. */
export const Tabs = ({ label, tabs }: TabsNeeds) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, href, current }) => (
      <a key={href} href={href} aria-current={current ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
)
