// Short patience: progress extends a call, and giving up does not end the run.

export default async function patience(call) {
  // Ten seconds, and never five without news.
  const { task_id } = await call('delegate_run', { task: 'fix-test --speed 0.6', options: { agent: 'replay' } });
  await call('delegate_wait', { task_id }, { timeout: 500 });
  const enough = new AbortController();
  await call('delegate_wait', { task_id }, { signal: enough.signal, onprogress: () => enough.abort('enough') });
  await call('delegate_status', { task_id });
  await call('delegate_wait', { task_id }, { timeout: 6_500, resetTimeoutOnProgress: true });
}
