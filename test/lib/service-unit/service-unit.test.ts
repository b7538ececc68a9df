import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findProgram } from '#lib/hypervisor/qemu/programs.ts'
import type { Host } from '#lib/service-unit/host.ts'
import { installUnit, uninstallUnit, unitFile } from '#lib/service-unit/install-systemd.ts'
import { formatPlist } from '#lib/service-unit/launchd-plist.ts'
import { formatUnit } from '#lib/service-unit/systemd-unit.ts'
import { newFolder } from '../../support/folder.ts'

const options = {
  program: ['/usr/local/bin/vmhost'],
  user: 'vmhost',
  config: '/etc/vmhost/vmhost.toml',
  state: '/var/lib/vmhost',
}

/** A host whose files are in a folder. It records the commands that it gets, and has no users and no groups. */
const createHost = (root: string, failing?: string) => {
  const commands: string[] = []
  const host: Host = {
    root,
    async run(...words) {
      const command = words.join(' ')
      commands.push(command)
      const fails = /^(id|getent) /.test(command) || (failing !== undefined && command.startsWith(failing))
      return { code: fails ? 1 : 0, stdout: '', stderr: fails ? 'said why' : '' }
    },
  }
  return { host, commands }
}

test('an installation makes user, configuration and unit, and starts the service; a second one replaces the unit', async () => {
  using folder = newFolder()
  const { host, commands } = createHost(folder.path)
  const installed = await installUnit(host, options)
  expect(installed).toEqual({ outcome: 'installed', made: ['the user vmhost', options.config, unitFile] })
  expect(commands.filter(command => /^(useradd|systemctl)/.test(command))).toEqual([
    'useradd --system --user-group --home-dir /var/lib/vmhost --no-create-home --shell /usr/sbin/nologin vmhost',
    'systemctl daemon-reload',
    'systemctl enable --quiet vmhost',
    'systemctl restart vmhost',
  ])
  const unit = readFileSync(folder.path + unitFile, 'utf8')
  expect(unit).toMatch(/^KillMode=process$/m)
  // A shutdown takes at most 20 seconds.
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(20)
  expect(unit).toMatch(/^OOMPolicy=continue$/m)
  // The host has no group kvm, with which the unit would not start.
  expect(unit).not.toContain('SupplementaryGroups')
  expect(statSync(folder.path + unitFile).mode & 0o777).toBe(0o644)

  writeFileSync(folder.path + options.config, 'listen = "https://0.0.0.0:8443"\n')
  expect((await installUnit(host, options)).outcome).toBe('unchanged')
  expect((await installUnit(host, { ...options, program: ['/opt/vmhost'] })).outcome).toBe('upgraded')
  expect(readFileSync(folder.path + unitFile, 'utf8')).toContain('ExecStart=/opt/vmhost serve --config')
  expect(readFileSync(folder.path + options.config, 'utf8')).toContain('0.0.0.0')

  await uninstallUnit(host)
  expect(existsSync(folder.path + unitFile)).toBe(false)
  expect(existsSync(folder.path + options.config)).toBe(true)
  expect(commands.slice(-2)).toEqual(['systemctl disable --now --quiet vmhost', 'systemctl daemon-reload'])
  await expect(uninstallUnit(host)).rejects.toThrow(/There is no .*vmhost\.service, so nothing was removed/)
})

test('a unit that somebody else wrote stays, and nothing else changes', async () => {
  using folder = newFolder()
  mkdirSync(dirname(folder.path + unitFile), { recursive: true })
  writeFileSync(folder.path + unitFile, '[Service]\n')
  const { host, commands } = createHost(folder.path)
  await expect(installUnit(host, options)).rejects.toThrow('was not written by this command')
  expect(commands).toEqual([])
})

test('a command of the system that fails is named with its reason', async () => {
  using folder = newFolder()
  const { host } = createHost(folder.path, 'systemctl restart')
  await expect(installUnit(host, options)).rejects.toThrow('systemctl restart vmhost failed: said why')
})

test.runIf((await findProgram('systemd-analyze')) !== undefined)('systemd accepts the unit', () => {
  using folder = newFolder()
  const file = join(folder.path, 'vmhost.service')
  // A program and a user that are there, and paths that need quotes.
  const unit = { ...options, program: ['/bin/sh'], user: 'root', state: '/srv/a "b" 100% $HOME' }
  writeFileSync(file, formatUnit({ ...unit, hasKvmGroup: false }))
  const output = execFileSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8', stdio: 'pipe' })
  expect(output).toBe('')
  expect(readFileSync(file, 'utf8')).toContain('--state "/srv/a \\"b\\" 100%% $$HOME"')
})

/** Reads a property list with another program's parser, and prints it as JSON. */
const readPlist = 'import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)'

test.runIf((await findProgram('python3')) !== undefined)('the property list of launchd says the same', () => {
  const state = '/Users/Shared/a & <b> "c"'
  const input = formatPlist({ ...options, state }, '/Library/Logs/vmhost.log')
  expect(JSON.parse(execFileSync('python3', ['-c', readPlist], { input, encoding: 'utf8' }))).toEqual({
    Label: 'vmhost',
    ProgramArguments: ['/usr/local/bin/vmhost', 'serve', '--config', options.config, '--state', state],
    UserName: 'vmhost',
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    AbandonProcessGroup: true,
    ExitTimeOut: 30,
    Umask: 0o77,
    StandardOutPath: '/Library/Logs/vmhost.log',
    StandardErrorPath: '/Library/Logs/vmhost.log',
  })
})
