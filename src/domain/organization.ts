export type LanguageMode = 'auto' | 'forced'

export interface Organization {
  readonly id: string
  readonly name: string
  readonly defaultLanguage: string
  readonly languageMode: LanguageMode
  readonly createdAt: number
}

export const SCOPES = ['core', 'links', 'dashboard'] as const
export type Scope = (typeof SCOPES)[number]
