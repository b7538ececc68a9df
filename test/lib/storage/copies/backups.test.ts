import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { scheduleBackups } from '#lib/storage/copies/backups.ts'
import type { Logger } from '#lib/platform/log.ts'
import { newFolder } from '../../../support/folder.ts'
import { pause } from '../../../support/waiting.ts'

const hour = 3_600_000
const log = { info: vi.fn<Logger['info']>(), warning: vi.fn<Logger['warning']>() }

// File operations do not depend on the fake clock.
const toFake = ['Date', 'setInterval', 'clearInterval'] as const
beforeEach(() => void vi.useFakeTimers({ toFake: [...toFake], now: Date.UTC(2026, 5, 1) }))
afterEach(() => {
  vi.useRealTimers()
  log.warning.mockClear()
})

/** A store whose backups are small text files. */
const storeIn = (): { backup: (file: string) => Promise<void> } => ({
  backup: async file => writeFileSync(file, 'copy'),
})
const settle = (): Promise<void> => pause(30)

test('a backup is made when the newest one is old enough, and the oldest ones are deleted', async () => {
  using folder = newFolder()
  const backups = join(folder.path, 'backups')
  for (let made = 0; made < 3; made += 1) {
    vi.setSystemTime(Date.UTC(2026, 5, 1 + made))
    const schedule = scheduleBackups(storeIn(), { folder: backups, hours: 0.001, keep: 2, log })
    vi.advanceTimersByTime(6 * 60_000)
    await settle()
    await schedule[Symbol.asyncDispose]()
  }
  expect(readdirSync(backups)).toEqual(['store-20260602T000600Z.db', 'store-20260603T000600Z.db'])
})

test('no backup is made while the newest one is recent, nor at the start of the service', async () => {
  using folder = newFolder()
  const backup = vi.fn<(file: string) => Promise<void>>()
  await scheduleBackups({ backup }, { folder: folder.path, hours: 24, keep: 2, log })[Symbol.asyncDispose]()
  expect(backup).not.toHaveBeenCalled()
  writeFileSync(join(folder.path, 'store-20260601T000000Z.db'), 'copy')
  vi.setSystemTime(Date.now() + hour)
  const schedule = scheduleBackups({ backup }, { folder: folder.path, hours: 24 * 365 * 100, keep: 2, log })
  vi.advanceTimersByTime(6 * 60_000)
  await settle()
  await schedule[Symbol.asyncDispose]()
  expect(backup).not.toHaveBeenCalled()
})

test('a failed backup is logged, and no older backup is deleted', async () => {
  using folder = newFolder()
  const backup = vi.fn<(file: string) => Promise<void>>().mockRejectedValue(new Error('no room'))
  rmSync(folder.path, { recursive: true })
  const schedule = scheduleBackups({ backup }, { folder: folder.path, hours: 1, keep: 1, log })
  vi.advanceTimersByTime(6 * 60_000)
  await settle()
  await schedule[Symbol.asyncDispose]()
  expect(log.warning).toHaveBeenCalledWith(expect.any(String), { reason: 'no room' })
  expect(existsSync(folder.path)).toBe(true)
})
