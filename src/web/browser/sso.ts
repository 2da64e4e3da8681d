/** The pages of single sign-on: forms that work by themselves, apart from the typing field. */
import { KeystrideTyping } from './element.js'
import type { SsoPageData } from './page-data.js'

const page = JSON.parse(document.getElementById('main')?.dataset.page ?? '{}') as SsoPageData // Sound: the bridge writes it.
const typing = document.getElementById('typing')

document.getElementById('needs')?.remove()
if (typing instanceof KeystrideTyping) {
  if (page.again !== null) typing.again(page.again)
  typing.focus()
} else {
  // This module may run before the browser acts on `autofocus`, which then finds the focus taken.
  const first = document.querySelector<HTMLElement>('[autofocus]') ?? document.querySelector('h1')
  first?.focus()
}
// The script navigates, because a policy on form targets also applies to the redirects after a form.
if (page.onward !== null) location.replace(page.onward)
for (const form of document.forms)
  form.addEventListener('submit', () => {
    // The second press of a button sends nothing; the first is already being sent.
    setTimeout(() => {
      for (const button of form.querySelectorAll('button')) button.disabled = true
    })
  })
