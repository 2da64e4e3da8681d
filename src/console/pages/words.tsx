import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { count } from '../format.js'
import { useLoad } from '../load.js'
import { Badge } from '../parts/badge.js'
import { ChoiceField, TextField } from '../parts/field.js'
import { Choice, Filter, filterNow } from '../parts/filter.js'
import { Card, Page } from '../parts/page.js'
import { Empty, Show } from '../parts/states.js'
import { type Column, pageOf, Table } from '../parts/table.js'
import { Tabs } from '../parts/tabs.js'
import { toast, toastError } from '../parts/toasts.js'
import { hrefWith, viewAddress } from '../router.js'
import { access } from '../session.js'
import { fill, t } from '../texts.js'

const texts = t.words

interface Language {
  readonly language: string
  readonly name: string
  readonly nCore: number
  readonly nOwn: number
  readonly nEnabled: number
}

interface Word {
  readonly id: string
  readonly word: string
  readonly core: boolean
  readonly enabled: boolean
}

interface LanguageSettings {
  readonly default_language: string
  readonly language_mode: 'auto' | 'forced'
}

const core = <T,>(method: string, path: string, options: object = {}) =>
  call<T>(method, `/organization${path}`, { api: 'core', ...options })

/** Typing words and languages. They belong to the core API, so the key needs its scope. */
export const Words = () => (
  <Page title={texts.title}>
    {access().core ? (
      <Editor />
    ) : (
      <Empty title={texts.noScope}>
        <p>{texts.noScopeHelp}</p>
      </Empty>
    )}
  </Page>
)

function Editor() {
  const loaded = useLoad(async (signal) => {
    const [{ languages }, settings] = await Promise.all([
      core<{ readonly languages: readonly Language[] }>('GET', '/typing-words/languages', { signal }),
      core<LanguageSettings>('GET', '/language', { signal }),
    ])
    return { languages, settings }
  }, [])
  return (
    <Show of={loaded}>
      {({ languages, settings }) => {
        const asked = viewAddress.value.query.get('language') ?? settings.default_language
        const current = languages.find(({ language }) => language === asked) ?? languages[0]
        return (
          <>
            <Settings languages={languages} settings={settings} changed={loaded.reload} />
            <div class="sieve">
              <Tabs
                label={texts.languages}
                tabs={languages.map(({ language, name }) => ({
                  name,
                  href: hrefWith({ language, skip: null }),
                  current: language === current?.language,
                }))}
              />
            </div>
            {current !== undefined && <WordList key={current.language} language={current} changed={loaded.reload} />}
          </>
        )
      }}
    </Show>
  )
}

interface SettingsNeeds {
  readonly languages: readonly Language[]
  readonly settings: LanguageSettings
  readonly changed: () => void
}

/** A change is saved at once. */
function Settings({ languages, settings, changed }: SettingsNeeds) {
  const set = async (body: Partial<LanguageSettings>) => {
    try {
      await core('PATCH', '/language', { body })
      toast(texts.saved)
    } catch (error) {
      toastError(error)
    }
    changed()
  }
  return (
    <Card title={texts.settings}>
      <div class="fields">
        <ChoiceField
          label={texts.defaultLanguage}
          value={settings.default_language}
          set={(language) => void set({ default_language: language })}
          names={Object.fromEntries(languages.map(({ language, name }) => [language, name]))}
          help={texts.defaultHelp}
        />
        <ChoiceField
          label={texts.mode}
          value={settings.language_mode}
          set={(mode) => void set({ language_mode: mode === 'forced' ? 'forced' : 'auto' })}
          names={texts.modes}
          help={texts.modeHelp[settings.language_mode]}
        />
      </div>
    </Card>
  )
}

const KINDS = { own: 'false', core: 'true' } as const
const STATES = { enabled: 'true', disabled: 'false' } as const

interface WordListNeeds {
  readonly language: Language
  readonly changed: () => void
}

/** The words of one language; it has some hundreds, so the API does not page them. */
function WordList({ language: { language, nOwn, nCore, nEnabled }, changed }: WordListNeeds) {
  const [kind, state, part] = [filterNow('kind'), filterNow('state'), filterNow('filter')]
  const loaded = useLoad(
    async (signal) => {
      const query = {
        language,
        core: kind === 'own' || kind === 'core' ? KINDS[kind] : undefined,
        enabled: state === 'enabled' || state === 'disabled' ? STATES[state] : undefined,
      }
      const { words } = await core<{ readonly words: readonly Word[] }>('GET', '/typing-words', { query, signal })
      return pageOf(words.filter(({ word }) => part === null || word.includes(part.toLowerCase())))
    },
    [language, kind, state, part, viewAddress.value.query.get('skip')],
  )
  const act: Act = async (method, body, done) => {
    try {
      await core(method, '/typing-words', { body })
      toast(done)
    } catch (error) {
      toastError(error)
    }
    loaded.reload()
    changed()
  }
  return (
    <>
      <Add add={(word) => act('POST', { word, language }, fill(texts.added, { word }))} />
      <div class="sieve filters">
        <Filter name="filter" label={texts.filter} />
        <Choice name="kind" label={texts.origin} names={texts.kinds} />
        <Choice name="state" label={texts.state} names={texts.states} />
        <span class="soft">
          {fill(texts.counts, { own: count(nOwn), core: count(nCore), enabled: count(nEnabled) })}
        </span>
      </div>
      <div class="card flush">
        <Table
          label={texts.title}
          of={loaded}
          columns={columnsOf(act)}
          idOf={({ id }) => id}
          empty={<Empty title={texts.none} />}
        />
      </div>
    </>
  )
}

/** Changes a word, and shows `done`. */
type Act = (method: string, body: object, done: string) => Promise<void>

const columnsOf = (act: Act): readonly Column<Word>[] => [
  { name: texts.word, show: ({ word }) => word },
  { name: texts.origin, show: (word) => texts.kinds[word.core ? 'core' : 'own'] },
  {
    name: texts.state,
    show: ({ enabled }) => (
      <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? texts.states.enabled : texts.states.disabled}</Badge>
    ),
  },
  {
    name: texts.change,
    show: ({ id, word, core: shipped, enabled }) => (
      <span class="acts">
        <button
          type="button"
          class="button quiet"
          onClick={() =>
            void act('PATCH', { id, enabled: !enabled }, fill(enabled ? texts.disabled : texts.enabled, { word }))
          }
        >
          {enabled ? texts.disable : texts.enable}
        </button>
        {!shipped && (
          <button
            type="button"
            class="button quiet"
            onClick={() => void act('DELETE', { id }, fill(texts.removed, { word }))}
          >
            {texts.remove}
          </button>
        )}
      </span>
    ),
  },
]

/** The API's rule for a word that is not yet in its canonical form. */
const WORD = /^\p{Script=Latin}(?:['’-]?[\p{Script=Latin}\d]){1,23}$/u

function Add({ add }: { readonly add: (word: string) => Promise<void> }) {
  const [word, setWord] = useState('')
  const problem = word === '' || WORD.test(word.trim()) ? undefined : texts.wordRule
  const submit = async (event: Event) => {
    event.preventDefault()
    if (word.trim() === '' || problem !== undefined) return
    await add(word.trim())
    setWord('')
  }
  return (
    <form class="card one-line" onSubmit={submit}>
      <TextField label={texts.newWord} value={word} set={setWord} help={texts.wordRule} problem={problem} />
      <button type="submit" class="button" disabled={word.trim() === '' || problem !== undefined}>
        {texts.add}
      </button>
    </form>
  )
}
