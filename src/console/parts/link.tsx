import type { ComponentChildren } from 'preact'
import { hasView } from '../router.js'

interface LinkNeeds {
  readonly to: string
  readonly class?: string
  readonly id?: string
  readonly children: ComponentChildren
}

/** A link to a view; plain text if the console has no view at the address. */
export const Link = ({ to, ...rest }: LinkNeeds) => (hasView(to) ? <a href={to} {...rest} /> : <span {...rest} />)
