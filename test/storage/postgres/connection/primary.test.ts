import { describe, expect, it } from 'vitest'
import { serversOf } from '../../../../src/storage/postgres/connection/primary.js'

describe('the servers of a connection string', () => {
  it('are one, unchanged', () => {
    const url = 'postgresql://ann:p%40ss@db.example/keystride?sslmode=require'
    expect(serversOf(url)).toEqual([url])
  })

  it('are several, each with the shared user, password and settings', () => {
    const url =
      'postgres://ann:p%2Cs%40s@one:5432,two,[::1]:5433/keystride?target_session_attrs=read-write&sslmode=require'
    expect(serversOf(url)).toEqual([
      'postgres://ann:p%2Cs%40s@one:5432/keystride?sslmode=require',
      'postgres://ann:p%2Cs%40s@two/keystride?sslmode=require',
      'postgres://ann:p%2Cs%40s@[::1]:5433/keystride?sslmode=require',
    ])
  })
})
