import type { FieldOptions } from '../parts/field.tsx'

/** The field for where the packs are. */
export const connectionField: FieldOptions = {
  name: 'connection',
  label: 'Connection to the storage',
  value: 'provider=local-storage',
  isRequired: true,
  help: 'provider=…;key=value;… The service stores it encrypted.',
}

export const architectureField: FieldOptions = {
  name: 'architecture',
  label: 'Architecture',
  kind: 'select',
  options: [
    ['x86_64', 'x86_64'],
    ['arm64', 'arm64'],
  ],
}
