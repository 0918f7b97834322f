// Calls tools and keeps what came of it, in the order of the calls.

export const received = [];

export const recorder = callTool => async (tool, given, options = {}) => {
  const told = { tool, progress: [] };
  received.push(told);
  const onprogress = ({ progress }) => {
    told.progress.push(progress);
    options.onprogress?.();
  };
  try {
    told.result = await callTool({ name: tool, arguments: given }, { ...options, onprogress });
  } catch (error) {
    console.error(error);
    told.error = String(error);
  }
  return told.result?.structuredContent;
};
