import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findKvmProblem } from '#lib/hypervisor/qemu/accelerator.ts'
import { newFolder } from '../../support/folder.ts'

/** Probes a host with these processor flags, with or without the device, and with this shell command as QEMU. */
const probeHost = async (flags: string, { device = true, qemu = 'echo MB BOOT 00000001', mode = 0o600 } = {}) => {
  using folder = newFolder()
  const [cpuinfo, kvm, program] = ['cpuinfo', 'kvm', 'qemu'].map(name => join(folder.path, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(cpuinfo, `processor : 0\nflags\t\t: ${flags}\n`)
  if (device) writeFileSync(kvm, '', { mode })
  if (device) chmodSync(kvm, mode)
  writeFileSync(program, `#!/bin/sh\n${qemu}\n`, { mode: 0o755 })
  const problem = await findKvmProblem(program, undefined, { cpuinfo, device: kvm })
  return problem?.replaceAll(folder.path, '')
}

test('KVM is used if a guest runs with it; otherwise the problem says why not', async () => {
  expect(await probeHost('fpu vmx sse')).toBeUndefined()
  expect(await probeHost('fpu svm', { device: false })).toBe('there is no /kvm')
  expect(await probeHost('fpu sse')).toContain('neither vmx nor svm')
  const qemu = 'echo "warning" >&2; echo "ioctl(KVM_CREATE_VM) failed: 16 Device or resource busy" >&2; exit 1'
  expect(await probeHost('svm', { qemu })).toBe(
    'a guest did not start with it: ioctl(KVM_CREATE_VM) failed: 16 Device or resource busy',
  )
  expect(await probeHost('svm', { qemu: 'exec sleep 60' })).toContain('it said nothing for 1.5 seconds')
})

test.skipIf(process.getuid?.() === 0)('the problem of an inaccessible device names the group to join', async () => {
  expect(await probeHost('svm', { mode: 0o000 })).toBe(
    'the user of the service may not open /kvm; add it to the group kvm',
  )
})
