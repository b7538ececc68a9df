import type { Area } from './case.ts'
import { catalogArea } from './cases/catalog.ts'
import { contracts } from './cases/contract/area.ts'
import { consoleArea } from './cases/consoles.ts'
import { eventArea } from './cases/events.ts'
import { forkArea } from './cases/forks.ts'
import { forwardArea } from './cases/forwards.ts'
import { hostArea } from './cases/hosts.ts'
import { imageArea } from './cases/images.ts'
import { machineArea } from './cases/machines.ts'
import { managerArea } from './cases/managers.ts'
import { poolArea } from './cases/pools.ts'
import { roleArea } from './cases/roles.ts'
import { snapshotArea, snapshotScheduleArea } from './cases/snapshots.ts'
import { sshArea } from './cases/ssh.ts'
import { systemArea } from './cases/system.ts'
import { tokenArea } from './cases/tokens.ts'
import { transferArea } from './cases/transfers.ts'
import { userConfigArea } from './cases/user-configs.ts'
import { userArea } from './cases/users.ts'

/** The areas whose cases are written by hand. */
export const writtenAreas: readonly Area[] = [
  catalogArea,
  consoleArea,
  eventArea,
  forkArea,
  forwardArea,
  hostArea,
  imageArea,
  machineArea,
  managerArea,
  poolArea,
  roleArea,
  snapshotArea,
  snapshotScheduleArea,
  sshArea,
  systemArea,
  tokenArea,
  transferArea,
  userConfigArea,
  userArea,
]

export const areas: readonly Area[] = [contracts, ...writtenAreas]
