import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runExecutable, serveExecutable, whySkipped, withoutExecutable } from '../support/executable.ts'
import { newState } from '../support/service.ts'

const passwords = ['a password for the store', 'another password for it'] as const

test.skipIf(withoutExecutable)(
  `the executable makes keys, and an encrypted store: its backup, restore and another password${whySkipped}`,
  async () => {
    using state = newState()
    const cwd = state.path
    const sealedBy = (password: string) => ({ environment: { VMHOST_STORAGE_PASSWORD: password } })
    const vmhost = (args: string, stdin = '', password: string = passwords[0]) =>
      runExecutable([...args.split(' '), '--state', cwd], { cwd, stdin, ...sealedBy(password) })
    const serve = (password: string) => serveExecutable(cwd, { ...sealedBy(password), args: ['--demo', 'off'] })
    const backup = join(cwd, 'backup.db')

    const first = await serve(passwords[0])
    expect((await vmhost('users add jane --email jane@example.test', 'Another-Horse-7-Battery\n')).code).toBe(0)
    expect((await vmhost(`storage backup ${backup}`)).stdout).toMatch(/, encrypted\.$/m)
    expect((await vmhost('users remove jane')).code).toBe(0)
    expect(await first.stop()).toBe(0)

    expect((await vmhost(`storage restore ${backup}`)).stdout).toMatch(/which is encrypted/)
    expect((await vmhost('storage rekey', `${passwords[1]}\n`)).stdout).toContain('has a new password')
    expect((await vmhost('users list')).stderr).toContain('VMHOST_STORAGE_PASSWORD')
    const second = await serve(passwords[1])
    expect((await vmhost('users list', '', passwords[1])).stdout).toContain('jane@example.test')
    expect(await second.stop()).toBe(0)

    expect((await runExecutable(['keygen', 'new.pem', '--bits', '2048'], { cwd })).code).toBe(0)
    expect(existsSync(join(cwd, 'new.pem'))).toBe(true)
  },
)
