/** Opens the run of a sequence with its task and the tools that the task needs. */
export function open({ suite, task, grant }) {
  return { meta: { 'io.writ/task': { text: task, tools: grant.map((tool) => `${suite}/${tool}`) } } };
}
