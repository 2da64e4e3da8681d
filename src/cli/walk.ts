import { existsSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { readConfig } from '../process/config.js'
import { demoFile } from '../process/greeting.js'
import { print, run, WrongUse } from './administer.js'
import { walkClient } from './walk-client.js'
import { walkSteps } from './walk-steps.js'

const KEY_VARIABLE = 'KEYSTRIDE_APIKEY'

/** `keystride walk`: calls a running service as a client does, and checks each answer against the route tables. */
export const walkCommand = (env: NodeJS.ProcessEnv): Command =>
  new Command('walk')
    .description('call every part of a running service as a client does, and check each answer')
    .option('--url <url>', 'address of the service, without /core', 'http://localhost:8080')
    .addHelpText(
      'after',
      `
The API key comes from ${KEY_VARIABLE}, or from demo.json of the first start with the embedded database; it needs every scope.
The walk creates the users walk-N and walk-N-team and a policy, signs in with made-up typing, and deletes them. Its calls count in the
usage of the key's organization, and its failed sign-ins raise alerts: use an organization of its own on a service that people use.
It ends with status 1 if a promise is broken.`,
    )
    .action(({ url }: { url: string }) => run(() => walk(url.replace(/\/+$/, ''), env)))

async function walk(url: string, env: NodeJS.ProcessEnv): Promise<void> {
  const steps = walkSteps(walkClient(url, keyFrom(env)), Date.now())
  let broken = 0
  for (const { promise, walk: act } of steps)
    try {
      await act()
      print(`holds   ${promise}`)
    } catch (error) {
      broken += 1
      print(`BROKEN  ${promise}\n        ${(error as Error).message}`)
    }
  print(`${steps.length - broken} of ${steps.length} promises hold`)
  if (broken > 0) process.exitCode = 1
}

function keyFrom(env: NodeJS.ProcessEnv): string {
  const given = env[KEY_VARIABLE]
  if (given !== undefined) return given
  const file = demoFile(readConfig(env))
  if (!existsSync(file)) throw new WrongUse(`no API key came: wanted it in ${KEY_VARIABLE}, or the file ${file}`)
  return JSON.parse(readFileSync(file, 'utf8')).apikey
}
