import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildExecutable } from '#build/executable/build.ts'
import { readMachO } from '#build/executable/mach-o.ts'
import { findTarget } from '#build/executable/targets.ts'
import { readRoutes } from '#build/table.ts'
import { needsControl } from '#lib/compose/hosts/host-routes.ts'
import { readPrintedPassword, runExecutable, serveExecutable } from '../support/executable.ts'
import { newFolder } from '../support/folder.ts'
import { findProgram } from '../support/programs.ts'
import { newState } from '../support/service.ts'

const folder = newFolder()
afterAll(() => folder[Symbol.dispose]())

/** Builds the executable of another platform. Returns its name. */
const build = async (platform: string): Promise<string> =>
  (
    await buildExecutable(
      folder.path,
      findTarget(platform),
      (await readRoutes()).filter(route => !needsControl(route)),
    )
  ).name

// Packages of Debian: qemu-user-static, and libc6, libstdc++6 and libatomic1 with -arm64-cross. The variable is QEMU's own.
const emulator = findProgram('qemu-aarch64-static')
const libraries = process.env['QEMU_LD_PREFIX'] ?? '/usr/aarch64-linux-gnu'
const canEmulate = emulator !== undefined && existsSync(join(libraries, 'lib/ld-linux-aarch64.so.1'))
const missing = canEmulate ? '' : ': qemu-aarch64-static or the libraries of arm64 are missing'

describe.skipIf(!canEmulate)(`the executable for linux-arm64, on an emulated processor${missing}`, () => {
  let command: readonly string[] = []
  beforeAll(async () => {
    command = [emulator!, '-L', libraries, join(folder.path, await build('linux-arm64'))]
  })

  test('shows its version and makes a key', async () => {
    using state = newState()
    const options = { cwd: state.path, command }
    expect(await runExecutable(['--version'], options)).toMatchObject({ code: 0, stdout: '0.1.0\n' })
    expect(await runExecutable(['keygen', 'key.pem', '--bits', '2048'], options)).toMatchObject({ code: 0 })
    expect(readFileSync(join(state.path, 'key.pem'), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
  })

  test('serves, lets root sign in, runs the demo machine and ends with 0', async () => {
    using state = newState()
    const service = await serveExecutable(state.path, { command })
    const token = await service.signIn(readPrintedPassword(service))
    const { body } = await service.call('PUT', '/api/v1/machines/demo/start', { token })
    expect(body).toMatchObject({ status: 'Success' })
    expect(await service.stop()).toBe(0)
  })
})

test('the executable for darwin-arm64 contains the program, and its name says if it has no signature', async () => {
  const name = await build('darwin-arm64')
  const bytes = readFileSync(join(folder.path, name))
  const { isArm64, segments, isSigned } = readMachO(bytes)
  expect(isArm64).toBe(true)
  expect(segments).toContain('NODE_SEA')
  // Node looks there for whether it contains a program.
  expect(bytes.includes('NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1')).toBe(true)
  expect(name.endsWith('-unsigned')).toBe(!isSigned)
})
