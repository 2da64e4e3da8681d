import type { TypingWord } from '../../../domain/own-words.js'
import type { Language } from '../../../domain/typing-words.js'
import type { TypingWordStore } from '../../typing-words.js'
import type { Database, Transaction } from '../connection/client.js'

/** The columns have the names of the fields. Sound for `language`, because only languages are written. */
type TypingWordRow = TypingWord

/** Changes of an organization's typing words in PostgreSQL. */
export function postgresTypingWords(database: Database): TypingWordStore {
  return {
    list: (organizationId, language) => database.scoped(organizationId, (sql) => list(sql, organizationId, language)),

    find: (organizationId, id) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<TypingWordRow[]>`
          select id, language, word, core, enabled from keystride.typing_word
          where organization_id = ${organizationId} and id = ${id}`
        return row === undefined ? null : toTypingWord(row)
      }),

    change: (organizationId, language, decide) =>
      database.scoped(organizationId, async (sql) => {
        // This statement comes first, because its row is also the lock.
        await sql`
          update keystride.organization set words_version = words_version + 1
          where organization_id = ${organizationId}`
        const change = decide(await list(sql, organizationId, language))
        if ('drop' in change) {
          await sql`
            delete from keystride.typing_word where organization_id = ${organizationId} and id = ${change.drop}`
          return
        }
        const { id, word, core, enabled } = change.put
        await sql`
          insert into keystride.typing_word (organization_id, id, language, word, core, enabled)
          values (${organizationId}, ${id}, ${language}, ${word}, ${core}, ${enabled})
          on conflict (organization_id, id) do update set word = excluded.word, enabled = excluded.enabled`
      }),
  }
}

async function list(sql: Transaction, organizationId: string, language: Language | null): Promise<TypingWord[]> {
  const rows = await sql<TypingWordRow[]>`
    select id, language, word, core, enabled from keystride.typing_word
    where organization_id = ${organizationId} and language = coalesce(${language}, language)
    order by id`
  return rows.map(toTypingWord)
}

const toTypingWord = ({ id, word, language, core, enabled }: TypingWordRow): TypingWord => ({
  id,
  word,
  language,
  core,
  enabled,
})
