import { deployOn, PEOPLE } from './deployed.js'
import { rotationCommands } from './documented.js'
import { signIn } from './people.js'
import type { Stage } from './stage.js'
import { type RunStep, runDrill } from './steps.js'

const HELP = `Rehearses a rotation of ENCRYPTION_KEY as docs/operations.md describes it.

  npm run drill -- rotation [options]

  --patterns N   reference patterns, and attempts, in the database (1000)
  --json FILE    also write the steps and their times to a file

The drill fails unless people sign in with both keys, and with the new key alone after the rotation, and the old key alone is refused. It
needs about 8 kB of disk in TMPDIR for each pattern, and touches no other database.
`

/** Organizations, whose data keys are wrapped again. */
const ORGANIZATIONS = 10

await runDrill({ name: 'rotation', help: HELP, run: rotateOn })

async function rotateOn(stage: Stage, step: RunStep, patterns: number): Promise<void> {
  const { shell, env } = stage
  const { create, rotate, status } = rotationCommands()
  const { apikey, service } = await deployOn(stage, step, patterns)
  await step(`create ${ORGANIZATIONS - 1} more organizations`, async () => {
    for (let n = 1; n < ORGANIZATIONS; n++) await shell(`keystride organization create "Drill ${n}"`)
    return { found: `${ORGANIZATIONS} data keys`, value: null }
  })
  const both = await step('create a key, and restart the service with both', async () => {
    const present = (await shell(create)).trim()
    await service.stop()
    const keys = { ENCRYPTION_KEY: present, ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY ?? '' }
    const running = await stage.serve(keys)
    await signIn({ port: running.port, apikey }, 1)
    return { found: 'a person signed in', value: { keys, running } }
  })
  await step(rotate, async () => {
    const said = await shell(rotate, both.keys)
    if (!said.startsWith(`${ORGANIZATIONS} re-wrapped `))
      throw new Error(`wanted ${ORGANIZATIONS} re-wrapped, got: ${said}`)
    await signIn({ port: both.running.port, apikey }, 2)
    return { found: `${ORGANIZATIONS} re-wrapped while the service ran; a person signed in`, value: null }
  })
  await step(status, async () => {
    const uses = JSON.parse(await shell(`${status} --json`, both.keys)) as { state: string; organizations: number }[]
    const wanted = { present: ORGANIZATIONS, previous: 0 }
    for (const { state, organizations } of uses)
      if (wanted[state as keyof typeof wanted] !== organizations)
        throw new Error(`the ${state} key: wanted ${wanted[state as keyof typeof wanted]}, got ${organizations}`)
    return { found: '0 organizations under the previous key', value: null }
  })
  await step('restart the service with the new key alone, until a person has signed in', async () => {
    await both.running.stop()
    const running = await stage.serve({ ...both.keys, ENCRYPTION_KEY_PREVIOUS: '' })
    const typings = await signIn({ port: running.port, apikey }, PEOPLE - 1)
    await running.stop()
    return { found: `signed in; typings needed: ${typings}`, value: null }
  })
  await step('check that the old key alone is refused', async () => {
    const refused = await shell('keystride config check --connect').then(
      () => null,
      (error: Error) => error.message,
    )
    if (!refused?.includes('encryption key missing'))
      throw new Error(`wanted a missing key, got: ${refused ?? 'no error'}`)
    return { found: 'encryption key missing', value: null }
  })
}
