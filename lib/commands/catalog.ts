import type { CommandGroup } from './definition.ts'
import { createManifestCommands, manifestSections } from './manifests.ts'

/** The commands of `vmhost catalog` for single manifests and for the cache. */
export const catalog: CommandGroup = {
  name: 'catalog',
  sections: { ...manifestSections, cache: 'Packs that this host keeps for further pulls' },
  commands: [
    ...createManifestCommands(operation => `catalog.${operation}`),
    {
      name: 'cache list',
      alias: 'ls',
      operation: 'catalogCache.list',
      summary: 'List the packs in the cache',
      columns: [
        ['CATALOG ID', 'catalog_id'],
        ['VERSION', 'version'],
        ['ARCHITECTURE', 'architecture'],
        ['SIZE', 'pack_size', 'bytes'],
        ['CACHED', 'cache_date', 'time'],
      ],
      empty: 'The cache is empty.',
    },
    {
      name: 'cache delete',
      alias: 'rm',
      operation: 'catalogCache.delete',
      summary: 'Delete the packs of a catalog id, or of one version, from the cache',
      inputs: [
        { flag: '<catalog-id>', to: 'params.catalogId', about: 'name of the machine in the catalog' },
        { flag: '[version]', to: 'params.version', about: 'version; default: all' },
      ],
    },
    { name: 'cache clear', operation: 'catalogCache.clear', summary: 'Delete all packs from the cache' },
  ],
}
