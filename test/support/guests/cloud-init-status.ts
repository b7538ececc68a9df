const at = 1_767_225_600

/** The file status.json of a cloud-init that has done its work. */
export const finishedCloudInit = {
  v1: {
    datasource: 'DataSourceNoCloud [seed=/dev/sr0]',
    'init-local': { errors: [], start: at, finished: at + 1.5 },
    init: { errors: [], start: at + 2, finished: at + 4 },
    'modules-config': { errors: [], start: at + 5, finished: at + 6 },
    'modules-final': { errors: [], start: at + 7, finished: at + 9.25 },
    stage: null,
  },
}
