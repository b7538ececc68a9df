import { expect, test } from 'vitest'
import { parseGroup } from '#lib/hypervisor/qemu/cgroup/find-group.ts'

const unified = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate'
const cpu = '33 30 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct'
const hybrid = `${cpu}\n31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw`

test.for([
  ['a unit of systemd', '0::/system.slice/vmhost.service\n', unified, 2, '/sys/fs/cgroup/system.slice/vmhost.service'],
  ['a container with a namespace', '0::/\n', unified, 2, '/sys/fs/cgroup'],
  [
    'version 1 beside version 2',
    '4:cpu,cpuacct:/system.slice/vmhost.service\n3:cpuset:/x\n0::/other\n',
    hybrid,
    1,
    '/sys/fs/cgroup/cpu,cpuacct/system.slice/vmhost.service',
  ],
  [
    'a container of version 1, which sees the path of the outside',
    '4:cpu:/docker/abc/inner\n',
    '33 30 0:30 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu',
    1,
    '/sys/fs/cgroup/cpu/inner',
  ],
] as const)('the group of %s', ([, groups, mounts, version, folder]) => {
  expect(parseGroup(groups, mounts)).toEqual({ version, folder })
})

test.for([
  ['no version with processor time', '3:cpuset:/\n', hybrid],
  ['a version that is not mounted', '4:cpu:/\n0::/\n', unified],
  ['nothing', '', ''],
] as const)('a host with %s has none', ([, groups, mounts]) => {
  expect(parseGroup(groups, mounts)).toBeUndefined()
})
