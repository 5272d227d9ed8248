//! `RulesService`: what presets there are, and whether rules can be played. Needs no token.

use tonic::{Request, Response, Status, async_trait};
use zetema_proto::{
    FieldError, Wire,
    v1::{self, rules_service_server::RulesService},
};
use zetema_rules::{NamedTimeControl, Players, Preset, Rules};

use super::fault::Fault;

/// The adapter of `RulesService`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RulesAdapter;

#[async_trait]
impl RulesService for RulesAdapter {
    async fn list_presets(
        &self,
        request: Request<v1::ListPresetsRequest>,
    ) -> Result<Response<v1::ListPresetsResponse>, Status> {
        let v1::ListPresetsRequest {} = request.into_inner();
        let presets = Preset::ALL.into_iter().map(preset_info).collect();
        Ok(Response::new(v1::ListPresetsResponse { presets }))
    }

    async fn get_preset(
        &self,
        request: Request<v1::GetPresetRequest>,
    ) -> Result<Response<v1::GetPresetResponse>, Status> {
        let v1::GetPresetRequest { preset, players } = request.into_inner();
        let preset = preset.ok_or_else(|| Fault::from(FieldError::missing("preset")))?;
        let players = usize::try_from(players).unwrap_or(usize::MAX);
        let rules = preset.rules(players).map_err(|error| {
            // The number of players stands beside the preset, not in it.
            let error = if error.path == "players" { error } else { error.within("preset") };
            Fault::from(error)
        })?;
        Ok(Response::new(v1::GetPresetResponse { rules: Some(rules.to_wire()) }))
    }

    async fn check_rules(
        &self,
        request: Request<v1::CheckRulesRequest>,
    ) -> Result<Response<v1::CheckRulesResponse>, Status> {
        let v1::CheckRulesRequest { rules } = request.into_inner();
        let rules = rules.ok_or_else(|| Fault::from(FieldError::missing("rules")))?;
        let violations = match Rules::from_wire(&rules) {
            Ok(_) => Vec::new(),
            Err(error) => vec![(&error.within("rules")).into()],
        };
        Ok(Response::new(v1::CheckRulesResponse { violations }))
    }

    async fn list_time_controls(
        &self,
        request: Request<v1::ListTimeControlsRequest>,
    ) -> Result<Response<v1::ListTimeControlsResponse>, Status> {
        let v1::ListTimeControlsRequest {} = request.into_inner();
        let time_controls = NamedTimeControl::ALL.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::ListTimeControlsResponse { time_controls }))
    }
}

fn preset_info(preset: Preset) -> v1::PresetInfo {
    let players = preset.players().iter().filter_map(|&count| {
        let teams = preset.teams(Players::new(count.into()).ok()?);
        Some(v1::PresetPlayers { players: count.into(), teams: teams.iter().map(Wire::to_wire).collect() })
    });
    v1::PresetInfo {
        preset: preset.to_wire(),
        name: preset.name().to_owned(),
        source: preset.source().to_owned(),
        players: players.collect(),
    }
}
