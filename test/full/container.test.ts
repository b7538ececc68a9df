import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createContainerImage } from '#build/release/container-image.ts'
import { version } from '#lib/compose/version.ts'
import { executable, readPrintedPassword, whySkipped, withoutExecutable } from '../support/executable.ts'
import { newFolder } from '../support/folder.ts'
import { newState, startService } from '../support/service.ts'

/** Only root may have another root folder. */
const canEnter = spawnSync('unshare', ['--mount', '--mount-proc', 'true']).status === 0

interface Descriptor {
  readonly digest: string
}

/** Unpacks the image as a runtime of containers does: its one layer into `root`. Gives how its program is started. */
const unpack = (folder: string, root: string): { readonly Entrypoint: string[]; readonly Env: string[] } => {
  const [image, layout] = [join(folder, 'image.tar'), join(folder, 'layout')]
  const facts = { version, architecture: 'amd64', executable, seconds: 1_700_000_000 } as const
  writeFileSync(image, createContainerImage({ ...facts, work: join(folder, 'work') }))
  for (const path of [layout, root]) mkdirSync(path)
  execFileSync('tar', ['--extract', '--file', image, '--directory', layout])
  const blobOf = ({ digest }: Descriptor): string => join(layout, 'blobs', digest.replace(':', '/'))
  const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const { config, layers } = readJson(blobOf(readJson(join(layout, 'index.json')).manifests[0]))
  execFileSync('tar', ['--extract', '--gzip', '--file', blobOf(layers[0]), '--directory', root])
  // Runtimes give each container these.
  for (const path of ['proc', 'dev']) mkdirSync(join(root, path))
  execFileSync('mknod', ['--mode=666', join(root, 'dev/null'), 'c', '1', '3'])
  return readJson(blobOf(config)).config
}

test.skipIf(withoutExecutable || !canEnter)(
  `the container image serves, and runs the demo machine, with nothing but its own root${whySkipped}`,
  async () => {
    using folder = newFolder()
    const root = join(folder.path, 'root')
    const { Entrypoint, Env } = unpack(folder.path, root)
    using state = newState()
    const service = await startService({
      state: state.path,
      command: ['unshare', '--mount', '--mount-proc', `--root=${root}`, ...Entrypoint],
      environment: {
        ...Object.fromEntries(Env.map(pair => pair.split('=', 2))),
        VMHOST_LISTEN: 'http://127.0.0.1:0',
      },
    })
    const token = await service.signIn(readPrintedPassword(service))
    const { body: system } = await service.call('GET', '/api/v1/health/system', { token })
    expect(system).toMatchObject({ healthy: true })
    const { body: started } = await service.call('PUT', '/api/v1/machines/demo/start', { token })
    expect(started).toMatchObject({ status: 'Success' })
    const waiting = '/api/v1/machines/demo/wait?for=serial:T%200*2'
    const { body: waited } = await service.call('GET', waiting, { token })
    expect(waited).toMatchObject({ result: 'met' })
    expect(await service.stop()).toBe(0)
  },
)
