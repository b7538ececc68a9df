import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newState, startService } from '../../support/service.ts'

test('files that were being written when the service was killed are gone after the next start', async () => {
  using state = newState()
  await (await startService({ state: state.path })).kill()
  const [demo] = globSync('machines/*/*/machine.json', { cwd: state.path })
  const home = join(state.path, demo!, '..')
  mkdirSync(join(state.path, 'ssh'), { recursive: true })
  const left = [
    join(state.path, `.store.db.commits.${crypto.randomUUID()}`),
    join(state.path, 'tls', `.cert.pem.${crypto.randomUUID()}`),
    join(state.path, 'ssh', `.known_hosts.${crypto.randomUUID()}`),
    join(state.path, 'keys', `.signing.pem.${crypto.randomUUID()}`),
    ...['op', 'run', 'machine'].map(name => join(home, `.${name}.json.${crypto.randomUUID()}`)),
  ]
  const kept = [join(state.path, '.own'), join(home, '.own'), join(home, `own.${crypto.randomUUID()}`)]
  for (const path of [...left, ...kept]) writeFileSync(path, 'x')
  const service = await startService({ state: state.path })
  expect(left.filter(existsSync)).toEqual([])
  expect(kept.filter(existsSync)).toEqual(kept)
  expect(await service.stop()).toBe(0)
})
