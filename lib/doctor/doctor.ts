import { messageOf } from '#lib/errors.ts'
import { checkCertificate } from './checks/certificate.ts'
import { checkClock } from './checks/clock.ts'
import { checkDiskSpace } from './checks/disk-space.ts'
import { checkFirmware } from './checks/firmware.ts'
import { checkHypervisor } from './checks/hypervisor.ts'
import { checkKvm } from './checks/kvm.ts'
import { checkListenAddress } from './checks/listen-address.ts'
import { checkHostNetworks, checkPasst } from './checks/networks.ts'
import { checkService } from './checks/service.ts'
import { checkStateFolder } from './checks/state-folder.ts'
import { createProblem, type Finding, type NamedFinding } from './finding.ts'
import type { Surroundings } from './surroundings.ts'

/** All checks, in the order in which their findings are shown. */
const checks: Readonly<Record<string, (surroundings: Surroundings) => Promise<Finding>>> = {
  service: checkService,
  state_folder: checkStateFolder,
  disk_space: checkDiskSpace,
  hypervisor: checkHypervisor,
  kvm: checkKvm,
  uefi: checkFirmware,
  nat: checkPasst,
  host_networks: checkHostNetworks,
  listen_address: checkListenAddress,
  certificate: checkCertificate,
  clock: checkClock,
}

/** Runs all checks. They change nothing. A check that fails unexpectedly is itself a problem, with its reason. */
export const diagnose = (surroundings: Surroundings): Promise<readonly NamedFinding[]> =>
  Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({
      check: name,
      ...(await check(surroundings).catch((error: unknown) =>
        createProblem(`This could not be checked: ${messageOf(error)}`),
      )),
    })),
  )
