import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { fill, t } from '../texts.js'
import { Exact } from './exact.js'

interface PageNeeds {
  readonly title: string
  /** The title is a reference, which a browser that translates the page leaves as it is. */
  readonly exact?: boolean
  /** Shown next to the title, such as ranges and actions. */
  readonly tools?: ComponentChildren
  readonly children: ComponentChildren
}

/** A view: its title, which gets the focus when the view opens, and its content. */
export function Page({ title, exact = false, tools, children }: PageNeeds) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = fill(t.title, { page: title })
  }, [title])
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1} ref={heading}>
          {exact ? <Exact>{title}</Exact> : title}
        </h1>
        {tools !== undefined && <div class="tools">{tools}</div>}
      </div>
      {children}
    </>
  )
}

interface CardNeeds {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of a view under its own heading. */
export const Card = ({ title, aside, children }: CardNeeds) => (
  <section class="card">
    <div class="card-head">
      <h2>{title}</h2>
      {aside}
    </div>
    {children}
  </section>
)
