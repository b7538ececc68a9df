import { stat } from 'node:fs/promises'
import { findKvmProblem } from '#lib/hypervisor/qemu/accelerator.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { mayOpen } from '../access.ts'
import type { ServiceState } from '../ask-service.ts'
import { createOk, createWarning, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

const device = '/dev/kvm'

/** What is said of a host without KVM: machines run, and are slow. */
const slow = 'QEMU translates the instructions of guests, which is several times slower.'

/** Whether the running service uses KVM. Its unit may give it the group, which the list of its user's groups does not show. */
const isUsedBy = (service: ServiceState): boolean =>
  service.kind === 'running' &&
  service.health.services.some(({ name, message }) => name === 'hypervisor' && !message.includes('KVM is not used'))

/** Checks that QEMU machines run on KVM: by a test guest, and by the rights of the user of the service. */
export const checkKvm = async ({ settings, account, service }: Surroundings): Promise<Finding> => {
  if (settings.driver === 'embedded') return createOk('The embedded driver does not use it.')
  if (process.platform !== 'linux') return createOk('This system has a hypervisor of its own.')
  const programs = await findQemu()
  if (!programs) return createOk('Without QEMU it is not used.')
  const found = await stat(device).catch(() => undefined)
  if (!found)
    return createWarning(
      `There is no ${device}. ${slow} On a real computer, switch on virtualization in its firmware; in a virtual machine, allow nested virtualization.`,
      'modprobe --all kvm_intel kvm_amd',
    )
  const user = settings.qemu_user ?? account.user
  // The user that `qemu_user` names is checked when the service starts QEMU as it.
  if (!isUsedBy(service) && settings.qemu_user === undefined && !mayOpen(found, account, 6))
    return createWarning(`The user ${user} may not open ${device}. ${slow}`, `usermod --append --groups kvm ${user}`)
  const problem = await findKvmProblem(programs.system, undefined)
  return problem === undefined
    ? createOk(`A test guest has run with it, and ${user} may use it.`)
    : createWarning(`KVM is not used: ${problem}. ${slow}`)
}
