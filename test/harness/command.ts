import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import { keystride } from '../../src/cli/keystride.js'

const command = fileURLToPath(new URL('../../bin/keystride.mjs', import.meta.url))

interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}
export type Keystride = (...args: string[]) => Promise<Ran>

/**
 * Runs the administration command in a new process, with `env` added to the present environment, and with the patience that a loaded
 * machine needs.
 */
export function keystrideWith(env: Record<string, string>): Keystride {
  return async (...args) => {
    try {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [command, ...args], {
        env: { STORE_PATIENCE: '10', ...process.env, ...env },
      })
      return { status: 0, stdout, stderr }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { status: code, stdout, stderr }
    }
  }
}

/** Runs the administration command in this process, one call at a time, which costs a tenth of a process. */
export function keystrideHere(env: Record<string, string>): Keystride {
  return async (...args) => {
    const ran = { status: 0, stdout: '', stderr: '' }
    const captured = (['stdout', 'stderr'] as const).map((stream) =>
      vi.spyOn(process[stream], 'write').mockImplementation((text) => {
        ran[stream] += text
        return true
      }),
    )
    const before = process.exitCode
    try {
      process.exitCode = undefined
      await keystride(['node', 'keystride', ...args], { STORE_PATIENCE: '10', ...env })
      return { ...ran, status: Number(process.exitCode ?? 0) }
    } finally {
      process.exitCode = before
      for (const one of captured) one.mockRestore()
    }
  }
}
