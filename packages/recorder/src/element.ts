/**
 * `<keystride-typing>`: shows words, records how they are typed, and takes part in a form with the typing pattern as its value.
 * Needs no style or script exception in a content security policy, and works with `require-trusted-types-for 'script'`.
 */
import { createRecorder, type Recorder, type Taken, type TypingPattern, type Unusable } from './recorder.js'
import { en } from './texts/en.js'
import { loadTexts } from './texts/load.js'
import { filled, type Texts } from './texts/texts.js'
import { createView, type Tone, type View } from './view.js'
import { isTyped, tokensOf } from './words.js'

export type { TypingPattern, Unusable }

const TEXT_OF: Readonly<Record<Unusable, keyof Omit<Texts, 'recorded'>>> = {
  empty: 'wordsLeft',
  tooShort: 'wordsLeft',
  noKeyEvents: 'noKeys',
  composition: 'composed',
  pasted: 'pasted',
  dropped: 'pasted',
  autofilled: 'filled',
  inserted: 'inserted',
  incomplete: 'again',
  coarseTimer: 'coarseClock',
  paused: 'paused',
  tooLong: 'again',
}
/** Reasons that further typing may remove. */
const GOES_ON: readonly Unusable[] = ['empty', 'tooShort', 'incomplete', 'coarseTimer']

/** A server that renders pages may import this module, although it has no DOM. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

/**
 * Attributes: `words` (separated by spaces), `words-lang`, `name`, `required`, `disabled`, `mode` (`visible` or `sensitive`),
 * `done` and `target` (patterns complete and required; without `target` no progress is shown) and `lang` of the texts.
 */
export class KeystrideTyping extends Base {
  static readonly formAssociated = true
  static readonly observedAttributes = ['words', 'words-lang', 'done', 'target', 'lang']

  readonly #internals = this.attachInternals()
  readonly #view: View = createView(this.attachShadow({ mode: 'open', delegatesFocus: true }))
  #texts: Texts = en
  #recorder: Recorder | null = null
  #pattern: TypingPattern | null = null
  #busy = false

  connectedCallback(): void {
    const { input } = this.#view
    this.#recorder = createRecorder({
      inputs: [input],
      mode: this.getAttribute('mode') === 'sensitive' ? 'sensitive' : 'visible',
      onChange: ({ unusable }) => {
        // Text that was not typed is never sent. Begins again after the browser has handled the event.
        if (unusable !== null && !GOES_ON.includes(unusable))
          setTimeout(() => this.#restart(this.#texts[TEXT_OF[unusable]]))
        else this.#judge()
      },
    })
    input.addEventListener('input', this.#follow)
    input.addEventListener('keydown', this.#onEnter)
    this.addEventListener('invalid', this.#onInvalid)
    this.#showWords()
    void this.#translate()
    // The browser looks for `autofocus` only once, before the element is defined.
    if (this.hasAttribute('autofocus')) this.focus()
  }

  disconnectedCallback(): void {
    this.#recorder?.stop()
    this.#recorder = null
    this.#view.input.removeEventListener('input', this.#follow)
    this.#view.input.removeEventListener('keydown', this.#onEnter)
    this.removeEventListener('invalid', this.#onInvalid)
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || this.#recorder === null) return
    if (name === 'lang') void this.#translate()
    else if (name === 'words' || name === 'words-lang') this.#showWords()
    else this.#showProgress()
  }

  formDisabledCallback(disabled: boolean): void {
    this.#view.input.disabled = disabled
  }

  formResetCallback(): void {
    this.reset()
  }

  /** The words to type. Other words begin a new pattern; the same words change nothing. */
  get words(): string[] {
    return (this.getAttribute('words') ?? '').split(/\s+/).filter((word) => word !== '')
  }
  set words(words: readonly string[] | string) {
    // One entry of an organization's own words may hold several words.
    this.setAttribute('words', typeof words === 'string' ? words : words.join(' '))
  }

  /** The complete pattern; null while words are missing or the input cannot be judged as typing. The service accepts it once. */
  get pattern(): TypingPattern | null {
    this.#judge()
    return this.#pattern
  }

  /** The pattern as JSON, which the form submits; empty without a pattern. */
  get value(): string {
    const { pattern } = this
    return pattern === null ? '' : JSON.stringify(pattern)
  }

  get name(): string {
    return this.getAttribute('name') ?? ''
  }
  get form(): HTMLFormElement | null {
    return this.#internals.form
  }
  get validity(): ValidityState {
    return this.#internals.validity
  }
  get validationMessage(): string {
    return this.#internals.validationMessage
  }
  checkValidity(): boolean {
    this.#judge()
    return this.#internals.checkValidity()
  }
  reportValidity(): boolean {
    this.#judge()
    return this.#internals.reportValidity()
  }

  /** While true, for a request that sends the pattern, the field takes no keys. */
  get busy(): boolean {
    return this.#busy
  }
  set busy(busy: boolean) {
    this.#busy = busy
    this.#view.input.readOnly = busy
    this.setAttribute('aria-busy', String(busy))
    if (busy) this.say(this.#texts.sending)
    else if (this.#view.text() === this.#texts.sending) this.say('')
  }

  /** Begins a pattern with these words, also if they are the words before. */
  show(words: readonly string[], language: string): void {
    this.setAttribute('words-lang', language)
    this.words = words
    this.reset()
  }

  /** Deletes what was typed; the same words are typed again. */
  reset(): void {
    this.#view.input.value = ''
    this.#recorder?.reset()
    this.#follow()
    this.say('')
  }

  /** Begins the same words again after the service refused a pattern; says why by the `reason` of its answer. */
  again(reason = ''): void {
    const { machine, seenBefore, again } = this.#texts
    this.#restart(reason === 'detection-bot' ? machine : reason === 'fraud-detected' ? seenBefore : again)
  }

  /** Shows a text below the field; screen readers read it out. */
  say(text: string, tone: Tone = 'calm'): void {
    this.#view.say(text, tone)
  }

  #restart(text: string): void {
    this.reset()
    this.say(text, 'warn')
    this.#view.input.focus()
  }

  readonly #follow = (): void => {
    const { words } = this
    // The text typed before is gone from the field, so the pattern begins again.
    if (this.#view.input.value === '') this.#recorder?.reset()
    const typed = tokensOf(this.#view.input.value)
    const wrong = this.#view.follow(words, typed)
    if (wrong >= 0) this.say(this.#mistyped(typed[wrong] ?? '', words[wrong] ?? ''), 'warn')
    else if (this.#view.input.value !== '') this.say('')
    this.#judge()
  }

  /** The field is in a shadow tree, so the browser does not submit the form for it. */
  readonly #onEnter = (event: KeyboardEvent): void => {
    // Safari ends a composition before it reports the Enter that ended it.
    if (event.key !== 'Enter' || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    if (!this.#busy) this.form?.requestSubmit()
  }

  /** Shows the reason as the element's own text in place of the browser's bubble. */
  readonly #onInvalid = (event: Event): void => {
    event.preventDefault()
    this.say(this.validationMessage, 'warn')
    this.#view.input.focus()
  }

  /** Updates the form value and the validity. */
  #judge(): void {
    const { input } = this.#view
    const missing = this.#missing(tokensOf(input.value))
    const taken: Taken | undefined = missing === null ? this.#recorder?.take() : undefined
    this.#pattern = taken?.pattern ?? null
    const problem = missing ?? (taken?.unusable ? this.#texts[TEXT_OF[taken.unusable]] : '')
    const excused = input.value === '' && !this.hasAttribute('required')
    this.#internals.setFormValue(this.#pattern === null ? null : JSON.stringify(this.#pattern))
    if (problem === '' || excused) this.#internals.setValidity({})
    else this.#internals.setValidity(input.value === '' ? { valueMissing: true } : { badInput: true }, problem, input)
  }

  /** The text about the first word that is missing or wrong; null if all are typed. */
  #missing(typed: readonly string[]): string | null {
    const { words } = this
    const wrong = words.findIndex((word, i) => !isTyped(word, typed[i] ?? ''))
    if (wrong < 0 && words.length > 0) return null
    const [word = '', token = ''] = [words[wrong], typed[wrong]]
    return token === '' || wrong === typed.length - 1 ? this.#texts.wordsLeft : this.#mistyped(token, word)
  }

  readonly #mistyped = (typed: string, word: string): string => filled(this.#texts.mistyped, { typed, word })

  #showWords(): void {
    this.#view.words(this.words, this.getAttribute('words-lang') ?? '')
    this.reset()
  }

  #showProgress(): void {
    const numberOf = (name: string): number => Math.max(0, Math.floor(Number(this.getAttribute(name)) || 0))
    this.#view.progress(numberOf('done'), numberOf('target'), this.#texts.count)
  }

  async #translate(): Promise<void> {
    const language = this.closest('[lang]')?.getAttribute('lang') ?? 'en'
    this.#texts = await loadTexts(language)
    this.#view.write(this.#texts)
    this.#showProgress()
    this.#judge()
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'keystride-typing': KeystrideTyping
  }
}

// A page may load two copies of this module.
if (globalThis.customElements?.get('keystride-typing') === undefined)
  globalThis.customElements?.define('keystride-typing', KeystrideTyping)
