import type { ExportHandle, ExportOptions } from '#lib/machines/export.ts'
import type { Machines } from '#lib/machines/machines.ts'

/** Exports a machine, gives the handle to `use` and disposes of it afterwards. Returns the result of `use`. */
export const withExport = async <T>(
  machines: Pick<Machines, 'export'>,
  id: string,
  options: ExportOptions,
  use: (exported: ExportHandle, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  await using exported = await machines.export(id, options)
  return await use(exported, exported.signal)
}
