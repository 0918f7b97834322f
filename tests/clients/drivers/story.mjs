// What every TypeScript client does: delegate, wait, read, look around, cancel, and ask for what is not there.

const options = { agent: 'replay' };

export default async function story(call) {
  const done = await call('delegate_run', { task: 'fix-test --speed 2', options });
  await call('delegate_wait', { task_id: done.task_id });
  await call('delegate_results', { task_id: done.task_id });
  await call('delegate_results', { task_id: done.task_id, format: 'json' });
  await call('delegate_run', { task: 'fails --instant', options, wait_ms: 20_000 });
  const long = await call('delegate_run', { task: 'fix-test --speed 0.01', options });
  await call('delegate_wait', { task_id: long.task_id, timeout_sec: 2 });
  await call('delegate_cancel', { task_id: long.task_id });
  await call('delegate_status', {});
  await call('delegate_wait', { task_id: 'T-local-000000000000' });
}
