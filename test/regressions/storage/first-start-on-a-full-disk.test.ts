import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'
import { rounds } from '../../support/rounds.ts'
import { rootPassword, runProgram, startService } from '../../support/service.ts'

const password = { VMHOST_STORAGE_PASSWORD: 'a password for the store' }

const encrypted = ['encrypted', password] as const

// An encrypted store does all that a plain one does.
test.skipIf(!canMount).for(rounds([encrypted], [encrypted, ['plain', {}] as const]))(
  'a first start on a full disk names the folder, and leaves nothing that hinders the next start (%s; needs the right to mount)',
  async ([, seal]) => {
    // From no space to nearly enough: each amount makes the start fail at another point.
    for (const left of [0, 8, 32, 128]) {
      using disk = newSmallDisk(24)
      disk.fill(left << 10)
      const env = { VMHOST_ROOT_PASSWORD: rootPassword, ...seal }
      const { code, stderr } = await runProgram(['serve'], env, disk.path)
      expect(code).toBe(1)
      expect(stderr, `${left} KB`).toContain(
        `vmhost: The disk of the folder ${disk.path} is full. Make room, then try again.`,
      )
      expect(stderr).not.toContain(' at ')
      expect(readdirSync(disk.path).filter(name => name.includes('.new'))).toEqual([])
      disk.empty()
      const service = await startService({ state: disk.path, env })
      expect(await service.signIn()).toBeTruthy()
      expect(await service.stop()).toBe(0)
    }
  },
)
