/** Answers of the dashboard API that the console reads; its OpenAPI document describes every field. */

export interface List<T> {
  /** Number of all matches, not of this page. */
  readonly count: number
  readonly data: readonly T[]
}
export interface Data<T> {
  readonly data: T
}

export interface Bucket {
  readonly date: string
  readonly n: number
  readonly authenticated: number
  readonly challenged: number
  readonly blocked: number
}

export interface Breakdown {
  readonly values: readonly { readonly signal: string; readonly value: string; readonly n: number }[]
}

interface Notification {
  readonly id: string
  readonly kind: string
  readonly created_at: string
  readonly text: string
  readonly user_ref: string | null
  readonly authentication_id: string | null
  readonly read: boolean
}
export interface Notifications extends List<Notification> {
  readonly unread: number
}

/** The key of the call, and what it may do. */
export interface CallingKey {
  readonly may: Readonly<Record<'read' | 'operate' | 'core' | 'links', boolean>>
}

export interface Status {
  readonly status: 'OK' | 'NOK'
  readonly message: string
  readonly version: string
}
