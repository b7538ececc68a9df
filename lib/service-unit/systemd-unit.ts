/** What a unit of the service depends on. */
export interface UnitOptions {
  /** The program and its first arguments, absolute. */
  readonly program: readonly string[]
  readonly user: string
  /** The configuration file, absolute. */
  readonly config: string
  /** The state folder, absolute. */
  readonly state: string
  /** Whether the host has the group of /dev/kvm. */
  readonly hasKvmGroup: boolean
}

/** The first line of a unit that this program wrote, and may replace. */
export const unitMark =
  '# Written by `vmhost service install`, which replaces it. Put changes into vmhost.service.d/*.conf.'

/** systemd makes this folder itself, and gives it to the user. */
const managedState = '/var/lib/vmhost'

/** Quotes an argument as systemd.service(5) and systemd.syntax(7) say: % and $ stand for themselves only when doubled. */
const quote = (argument: string): string => {
  const text = argument.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w@%$/:.,+=-]+$/.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/**
 * Formats the unit of the service. The settings that are left out would break it: PrivateTmp takes the sockets away from machines that
 * outlive the service, MemoryDenyWriteExecute stops V8 and the translation of QEMU, and passt needs namespaces.
 */
export const formatUnit = ({ program, user, config, state, hasKvmGroup }: UnitOptions): string => `${unitMark}
[Unit]
Description=vmhost, a management service for virtual machines
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${[...program, 'serve', '--config', config, '--state', state].map(quote).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
EnvironmentFile=-/etc/vmhost/environment
User=${user}
${hasKvmGroup ? 'SupplementaryGroups=kvm\n' : ''}${state === managedState ? 'StateDirectory=vmhost\nStateDirectoryMode=0700\n' : ''}UMask=0077
Restart=on-failure
RestartSec=2
TimeoutStopSec=30

# systemd ends only the service. The QEMU machines and the recorder of their serial output are in the same control group and outlive it:
# a restart or an upgrade does not touch guests. The next start finds them.
KillMode=process
# A machine that the kernel ends for want of memory must not end the service.
OOMPolicy=continue
# All machines count together.
TasksMax=infinity
# The service divides the processor time among the machines.
Delegate=cpu

NoNewPrivileges=yes
# A limit for what a drop-in adds with AmbientCapabilities: networks of the host, and ports below 1024.
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_NET_BIND_SERVICE
ProtectSystem=full
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
DevicePolicy=closed
DeviceAllow=/dev/kvm rw
DeviceAllow=/dev/net/tun rw
DeviceAllow=/dev/vhost-net rw

[Install]
WantedBy=multi-user.target
`
