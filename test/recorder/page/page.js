import { createRecorder } from '/recorder.js'

const violations = []
document.addEventListener('securitypolicyviolation', ({ violatedDirective }) => violations.push(violatedDirective))

/** A naive client: it sends every key event, also those of pasted text and shortcuts. */
let events = []
for (const type of ['keydown', 'keyup'])
  document.addEventListener(type, (event) => {
    const { code, key, keyCode, repeat, timeStamp, ctrlKey, altKey, shiftKey, metaKey } = event
    events.push({ type, et: timeStamp, k: key, c: code, kc: keyCode, r: repeat, ctrlKey, altKey, shiftKey, metaKey })
  })
const naive = {
  body: () => ({ agent: { type: 'browser', mode: 'visible' }, version: '1.0.0', kevt: events }),
  forget: () => {
    events = []
  },
}

Object.assign(window, { createRecorder, violations, naive, at: (id) => document.getElementById(id) })
