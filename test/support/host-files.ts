import { type HostFiles, openHostFiles } from '#lib/platform/host-files.ts'

/** A guard that lets every file be named but those of the system. */
export const anyFile: HostFiles = await openHostFiles({
  allowed: 'any',
  folders: [],
  except: [],
  files: () => [],
})

/** A guard that lets be named what is in a folder, but for what is protected there. */
export const filesIn = (folder: string, folders: readonly string[] = []): Promise<HostFiles> =>
  openHostFiles({ allowed: [folder], folders, except: [], files: () => [] })
