import type { ResolvedDefinition } from '../attached-files.ts'
import { buildDevice, escapeCommas } from './options.ts'

/** Returns the arguments of the folders of the host that the guest can mount (9p) by their names. */
export const buildSharedFolderArguments = ({ shared_folders = [], mapsFileModes }: ResolvedDefinition): string[] =>
  shared_folders
    .filter(({ enabled }) => enabled)
    .flatMap(({ name, path, mode }, at) => [
      '-fsdev',
      `local,id=folder${at},path=${escapeCommas(path)},security_model=${mapsFileModes ? 'mapped-xattr' : 'none'},readonly=${mode === 'ro' ? 'on' : 'off'}`,
      ...buildDevice({ driver: 'virtio-9p-pci', fsdev: `folder${at}`, mount_tag: name }),
    ])
