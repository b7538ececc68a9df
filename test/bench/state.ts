import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'

/** A state folder of the embedded driver with so many machines in it, made as their driver would make them. */
export const stateWith = (machines: number): string => {
  const state = mkdtempSync(join(tmpdir(), 'vmhost-bench-'))
  for (let at = 0; at < machines; at += 1) {
    const id = crypto.randomUUID()
    const home = join(state, 'machines', 'embedded', id)
    mkdirSync(home, { recursive: true, mode: 0o700 })
    writeFileSync(join(home, 'kernel.bin'), demoGuest)
    writeFileSync(
      join(home, 'machine.json'),
      JSON.stringify({
        id,
        name: `machine-${at}`,
        description: '',
        cpus: 1,
        memory: 16,
        disks: [],
        networks: [{ mac: '52:54:00:00:00:01', mode: 'isolated' }],
        kernel: 'kernel.bin',
        created_at: new Date().toISOString(),
      }),
    )
  }
  return state
}
