import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface FreshDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** A database of the caller's own, migrated (a copy of the template) or, with `empty`, without anything in it. */
export async function freshDatabase({ empty = false } = {}): Promise<FreshDatabase> {
  const name = `keystride_${process.pid}_${randomBytes(4).toString('hex')}`
  await administer(`create database ${name} ${empty ? '' : `template ${inject('templateDatabase')}`}`)
  const url = new URL(inject('databaseUrl'))
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) }
}

/** Copies of one template wait for one another's locks only in the server, so a collision is tried again. */
async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') })
  await client.connect()
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        await client.query(statement)
        return
      } catch (error) {
        const copiedNow = (error as { code?: string }).code === '55006' // "source database is being accessed"
        if (!copiedNow || tries === 50) throw error
        await client.query('select pg_sleep(0.1)')
      }
    }
  } finally {
    await client.end()
  }
}
