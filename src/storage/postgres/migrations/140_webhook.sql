-- Webhooks as a channel of alerts, and completed profiles as an event.

alter table keystride.alert_channel drop constraint alert_channel_channel_check,
  add constraint alert_channel_channel_check check (channel in ('email', 'sms', 'syslog', 'webhook'));

-- On a column that only a completion or a removal writes, so that it costs an attempt nothing.
create trigger note_enrollment after update of completed_at on keystride.member
  for each row when (new.completed_at is not null) execute function keystride.note_enrollment();
