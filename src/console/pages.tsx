import type { ComponentChild } from 'preact'
import { Alerts } from './pages/alerts.js'
import { Authentication } from './pages/authentication.js'
import { Authentications } from './pages/authentications.js'
import { Exports } from './pages/exports.js'
import { Insight } from './pages/insight.js'
import { Organization } from './pages/organization.js'
import { Overview } from './pages/overview.js'
import { Policies } from './pages/policies.js'
import { NewPolicy, Policy } from './pages/policy.js'
import { System } from './pages/system.js'
import { Usage } from './pages/usage.js'
import { User } from './pages/user.js'
import { Users } from './pages/users.js'
import { Words } from './pages/words.js'
import { t } from './texts.js'

/** A view of the console. */
interface View {
  /** The address below `/console/`; parameters are in braces. */
  readonly path: string
  readonly show: (parameters: Readonly<Record<string, string>>) => ComponentChild
  /** Name of the entry in the navigation; absent if the view has none. */
  readonly nav?: string
}

/** Every view, in the order of the navigation. */
export const VIEWS: readonly View[] = [
  { path: '', show: () => <Overview />, nav: t.overview.title },
  { path: 'users', show: () => <Users />, nav: t.users.title },
  { path: 'users/{userRef}', show: ({ userRef = '' }) => <User userRef={userRef} /> },
  { path: 'authentications', show: () => <Authentications />, nav: t.authentications.title },
  { path: 'authentications/{id}', show: ({ id = '' }) => <Authentication id={id} /> },
  { path: 'insight', show: () => <Insight />, nav: t.insight.title },
  { path: 'policies', show: () => <Policies />, nav: t.policies.title },
  { path: 'policies/new', show: () => <NewPolicy /> },
  { path: 'policies/{id}', show: ({ id = '' }) => <Policy id={id} /> },
  { path: 'alerts', show: () => <Alerts />, nav: t.alerts.title },
  { path: 'words', show: () => <Words />, nav: t.words.title },
  { path: 'usage', show: () => <Usage />, nav: t.usage.title },
  { path: 'exports', show: () => <Exports />, nav: t.exports.title },
  { path: 'system', show: () => <System />, nav: t.system.title },
  { path: 'organization', show: () => <Organization />, nav: t.organization.title },
]
