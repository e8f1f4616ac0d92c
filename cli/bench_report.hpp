#pragma once
// Figures as tables for people and as JSON.

#include <string>
#include <vector>

#include "diarist/tuning.hpp"

namespace diarist::cli {

std::string table_text(const BenchReport& report);
std::string table_text(const std::vector<ProfileReport>& reports);
std::string table_text(const std::vector<AlgorithmRow>& rows);
std::string table_text(const std::vector<FusionRow>& rows);

std::string json_text(const BenchReport& report);
std::string json_text(const std::vector<ProfileReport>& reports);
std::string json_text(const std::vector<AlgorithmRow>& rows);
std::string json_text(const std::vector<FusionRow>& rows);

}  // namespace diarist::cli
