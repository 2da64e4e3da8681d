import { Command, InvalidArgumentError } from 'commander'
import { redirectOrigin } from '../domain/redirect-uri.js'
import { type Administer, print, WrongUse } from './administer.js'
import { JSON_OPTION, uuid } from './arguments.js'

/** `keystride organization redirects`: the origins to which an organization's profile links may redirect browsers. */
export function redirectsCommand(administer: Administer): Command {
  return new Command('redirects')
    .description('show the origins to which profile links may redirect; with origins, or --any, replace the list')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .argument('[origin...]', 'such as https://app.example.com', origins)
    .option('--any', 'keep no list: links may lead to any https address')
    .option(...JSON_OPTION)
    .action(
      (organizationId: string, given: readonly string[] | undefined, { any, json }: { any?: true; json?: true }) =>
        administer(async ({ flows }) => {
          const wanted = any === true ? [] : given
          if (any === true && given !== undefined && given.length > 0)
            throw new WrongUse('origins came with --any: wanted one of them')
          if (wanted !== undefined && (any === true || wanted.length > 0))
            await flows.setRedirectOrigins(organizationId, wanted)
          const organization = (await flows.list()).find(({ id }) => id === organizationId)
          if (organization === undefined) throw new Error('there is no organization of that id')
          const { redirectOrigins } = organization
          if (json === true) print(JSON.stringify(redirectOrigins, null, 2))
          else print(redirectOrigins.length === 0 ? 'any https address' : redirectOrigins.join('\n'))
        }),
    )
}

function origins(text: string, before: readonly string[] = []): readonly string[] {
  const origin = redirectOrigin(text)
  if (origin === null)
    throw new InvalidArgumentError('wanted an origin like https://app.example.com (http on loopback)')
  return [...new Set([...before, origin])]
}
